"""Speed benchmarks, as ratios to a peer timed in the same run: ``python -m benchmarks``.

Each module except `benchmarks.timing` defines ``rows()``, a generator of the rows that it adds to
the table.
"""
