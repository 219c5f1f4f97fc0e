"""Inverse power laws, fitted to noisy means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray

# The exponents considered: flexible models learn slowly; that of models with few parameters is 1.
EXPONENTS = np.linspace(0.25, 1.25, 21)
N_DRAWS = 4000
# Added to the diagonal of the covariance, relative to it: means of the same rows are so correlated
# that the covariance is nearly singular, and no power law holds exactly.
RELATIVE_NUGGET = 1e-3
LEAST_VARIANCE = 1e-12
# If less than this part of the draws have a limit and a scale of at least 0, there is no law.
LEAST_SUPPORT = 1e-3


@dataclass(frozen=True, eq=False)
class PowerLaws:
    """Draws from the posterior distribution of a power law :math:`a + b n^{-c}`.

    Attributes
    ----------
    limit, scale, exponent : ndarray of shape (n_draws,)
        The parameters a, b and c.
    """

    limit: FloatArray
    scale: FloatArray
    exponent: FloatArray

    def at(self, n: float) -> FloatArray:
        """Return the values at a number of rows."""
        return self.limit + self.scale * n**-self.exponent

    def rows_for_gain(self, gain: float) -> FloatArray:
        """Return the numbers of rows from which twice as many lower the value by less.

        Parameters
        ----------
        gain : float
            The reduction, as a fraction of the value.

        Returns
        -------
        ndarray of shape (n_draws,)
            The numbers of rows. Infinity means that it never happens.
        """
        # b n^-c (1 - 2^-c) = gain (a + b n^-c)
        numerator = self.scale * (1.0 - 2.0**-self.exponent - gain)
        infinite = np.where(numerator > 0, np.inf, 0.0)
        ratio = np.divide(numerator, gain * self.limit, out=infinite, where=self.limit > 0)
        return ratio ** (1.0 / self.exponent)


def fit_power_laws(
    sizes: IndexArray, means: FloatArray, covariance: FloatArray, *, seed: int
) -> PowerLaws:
    """Draw from the posterior distribution of a power law.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of rows.
    means : ndarray of shape (n_sizes,)
        The observed values.
    covariance : ndarray of shape (n_sizes, n_sizes)
        Their covariance.
    seed : int
        Seed of the draws.

    Returns
    -------
    PowerLaws
        The draws. Priors are flat, with a limit and a scale of at least 0.
    """
    rng = np.random.RandomState(seed)
    diagonal = RELATIVE_NUGGET * np.diag(covariance) + LEAST_VARIANCE
    precision = np.linalg.inv(covariance + np.diag(diagonal))
    # Relative to the largest size, so that a flat prior of the scale does not favor exponents.
    relative = sizes / sizes[-1]
    drawn, log_weight = [], []
    for exponent in EXPONENTS:
        columns = np.column_stack([np.ones(len(sizes)), relative**-exponent])
        information = columns.T @ precision @ columns
        center = np.linalg.solve(information, columns.T @ precision @ means)
        residual = means - columns @ center
        root = np.linalg.inv(np.linalg.cholesky(information))
        drawn.append(center + rng.standard_normal((N_DRAWS, 2)) @ root)
        # The likelihood, integrated over limit and scale; draws that are out of range count as 0.
        log_weight.append(np.linalg.slogdet(root)[1] - 0.5 * residual @ precision @ residual)
    both, exponents = np.concatenate(drawn), np.repeat(EXPONENTS, N_DRAWS)
    weight = np.repeat(np.exp(np.array(log_weight) - np.max(log_weight)), N_DRAWS)
    possible = np.where(np.all(both >= 0, axis=1), weight, 0.0)
    if possible.sum() < LEAST_SUPPORT * weight.sum():
        # The values grow with the number of rows, which is taken for noise.
        error = precision.sum() ** -0.5
        constant = precision.sum(axis=0) @ means * error**2 + error * rng.standard_normal(N_DRAWS)
        return PowerLaws(np.maximum(constant, 0.0), np.zeros(N_DRAWS), np.ones(N_DRAWS))
    chosen = rng.choice(len(both), size=N_DRAWS, p=possible / possible.sum())
    limit, scale = both[chosen].T
    return PowerLaws(limit, scale * float(sizes[-1]) ** exponents[chosen], exponents[chosen])
