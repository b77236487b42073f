"""Maintenance tools: generated docs, tuned weights, task positions, screenshots."""
