"""Input files in JSON Lines, CSV, TSV and Parquet, read as usable rows and rejects.

paths -> expand -> sources -> read -> batches of rows and rejects
"""

from pipelines.reading.batches import Batch
from pipelines.reading.headers.columns import TIMESTAMP, Column
from pipelines.reading.reader import check_header, read
from pipelines.reading.sources import Source, expand

__all__ = ["TIMESTAMP", "Batch", "Column", "Source", "check_header", "expand", "read"]
