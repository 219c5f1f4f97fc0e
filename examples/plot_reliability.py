"""
Before and after calibration
============================

Naive Bayes is overconfident. A reliability diagram shows by how much, and how far calibration
corrects it. The confidence intervals show which deviations may be due to chance.
"""

# %%
# The classifiers are trained on 300 rows of three classes and evaluated on 400 other rows.
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.metrics import calibration_test, log_loss
from calibrant.plots import CalibrationMapDisplay, ReliabilityDisplay

X, y = make_waveform(300, random_state=0)
X_new, y_new = make_waveform(400, random_state=1)

models = {
    "uncalibrated": GaussianNB().fit(X, y),
    "calibrated": CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y),
}

# %%
# Each point is a bin of rows with similar predictions. The horizontal axis shows the mean
# probability of the most probable class, the vertical axis how often that class is the true one.
# For a calibrated model, most intervals include the diagonal. The histogram below shows the
# number of rows.
axes = None
for name, model in models.items():
    display = ReliabilityDisplay.from_estimator(model, X_new, y_new, name=name, ax=axes)
    axes = display.axes_

# %%
# Without calibration, most rows get a probability close to 1, but the most probable class is the
# true one less often than predicted. The same diagram for each class:
axes = None
for name, model in models.items():
    display = ReliabilityDisplay.from_estimator(
        model, X_new, y_new, of="each-class", name=name, ax=axes
    )
    axes = display.axes_

# %%
# The calibration map shows how each probability changes: extreme probabilities move toward the
# middle.
CalibrationMapDisplay.from_estimator(models["calibrated"], X_new)

# %%
# The log loss summarizes the quality of the probabilities. A test of calibration across all classes
# gives a p-value; a small one is evidence of miscalibration.
for name, model in models.items():
    proba = model.predict_proba(X_new)
    p_value = calibration_test(y_new, proba, random_state=0).p_value
    print(f"{name}: log loss {log_loss(y_new, proba):.3f}, p-value {p_value:.3f}")

# %%
# The calibration report estimates the gain from the training rows alone:
print(models["calibrated"].calibration_report_)
