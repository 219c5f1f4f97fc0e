"""Benchmarks of speed, as ratios to a peer timed in the same run: ``python -m benchmarks``.

Each module other than `benchmarks.timing` defines ``rows()``, a generator of the rows that it
contributes to the table.
"""
