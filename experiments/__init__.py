"""Programs for training, benchmarks and maintenance.

Run them from a clone, as ``python -m experiments.NAME``.
"""
