"""Run ``qpr``, but the first file of two tables is written and then the step fails, as a lost worker would.

With LOOPBACK workers live in this process, so what is replaced here is what they call.
"""

import sys

from jobs.cli import main
from pipelines.writing import parquet, rejected_table
from schemas.artifacts.writer import write_file

failed = set()


def write_then_fail_once(run_url, path, content, *, table, rows):
    file = write_file(run_url, path, content, table=table, rows=rows)
    if table in ("questions", "rejected") and table not in failed:
        failed.add(table)
        raise OSError(f"the worker is lost after {path}")
    return file


for writing in (parquet, rejected_table):
    writing.write_file = write_then_fail_once
try:
    main(sys.argv[1:])
finally:
    print(f"failed once: {sorted(failed)}", file=sys.stderr)
