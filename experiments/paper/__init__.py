"""The replication of the paper: its methods, published numbers and tables."""
