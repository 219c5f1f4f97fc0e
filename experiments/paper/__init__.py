"""The replication of the paper: its methods, its published numbers and its tables."""
