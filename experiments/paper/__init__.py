"""Numbers and folds of the paper, as files."""
