"""Warnings issued by calibrant."""


class CalibrationWarning(UserWarning):
    """Warning issued when the data or the estimator limit what calibration can do.

    The message says what calibrant does instead and how to avoid the warning.
    """
