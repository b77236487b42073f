"""The programs that people run: training, tournaments, measurements.

Run them from a clone, as ``python -m experiments.NAME``.
"""
