"""Programs for those who carry the project on: generated docs, tuned weights, screenshots."""
