"""Games as datasets to learn from: Parquet files, one row a decision, and Minari's episodes."""
