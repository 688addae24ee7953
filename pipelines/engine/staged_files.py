"""Files that Beam stages for the workers of an engine.

a run of an engine -> removed_staged_files -> the same run, which leaves none of these files on this machine

For Beam 2.72, the oldest version that setup.py allows, to 2.77, the newest tested.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import environments


@contextlib.contextmanager
def removed_staged_files() -> Iterator[None]:
    """Remove the folders that Beam fills with files for workers when the job has ended.

    Beam makes one or two of them for each job on an engine outside this process, and leaves them in the folder of
    temporary files: empty, or with the list of installed packages and, of ``--setup_file``, the built package.
    """
    stage = environments.python_sdk_dependencies
    with tempfile.TemporaryDirectory(prefix="qpr-") as folder:

        def stage_there(options: PipelineOptions, tmp_dir: str | None = None) -> list[Any]:
            staged: list[Any] = stage(options, tmp_dir or tempfile.mkdtemp(dir=folder))
            return staged

        environments.python_sdk_dependencies = stage_there
        try:
            yield
        finally:
            environments.python_sdk_dependencies = stage
