"""Warnings that calibrant raises."""


class CalibrationWarning(UserWarning):
    """The data are too few in some respect; the message says what was done about it."""
