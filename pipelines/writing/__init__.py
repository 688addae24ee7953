"""Tables to Parquet files, rejects and run reports."""
