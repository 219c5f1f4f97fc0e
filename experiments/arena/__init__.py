"""The arena: every method of calibrant beside other packages, on the same rows."""
