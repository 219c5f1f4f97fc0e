"""The arena: the methods of calibrant and of other packages, compared on the same rows."""
