"""Speed only, always as ratios beside a peer in one run: ``python -m benchmarks``."""
