"""The arena: the methods of calibrant and their peers on the same rows."""
