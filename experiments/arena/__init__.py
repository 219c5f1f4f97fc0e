"""The arena: the methods of calibrant and of other packages on the same rows."""
