"""Warnings that calibrant issues."""


class CalibrationWarning(UserWarning):
    """Issued when the data or the estimator limit what calibration can do.

    The message says what was done instead, and how to avoid it.
    """
