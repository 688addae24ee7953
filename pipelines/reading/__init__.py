"""Input files in JSON Lines, CSV, TSV and Parquet, read as usable rows and rejects.

paths -> expand -> sources -> read -> batches of rows and rejects
"""
