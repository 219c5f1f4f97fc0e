"""The experiments behind the documentation: the replication of the paper and the arena."""
