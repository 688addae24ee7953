"""Do all that submitting to Dataflow does, but the call of the service: python dataflow_job.py NAME FOLDER FLAG...

What would go to Cloud Storage goes into the folder: the job, the pipeline and the staged package.
"""

import pathlib
import sys

import apache_beam as beam
from apache_beam.io.gcp.gcsio import GcsIO
from apache_beam.runners.dataflow.internal import apiclient
from google.cloud import dataflow_v1beta3

from pipelines.engine.runner import parse_options
from pipelines.graphs import from_logs as clusters
from pipelines.graphs import from_pairs as quora
from pipelines.graphs.settings import ClustersConfig, QuoraConfig
from pipelines.reading.sources import Source

KNOWN = {"sources": [Source("gs://bucket/logs.parquet", 1, "parquet")], "run_url": "gs://bucket/dataset/run"}
CONFIGS = {
    "clusters": (clusters, ClustersConfig(shards=64)),
    "quora": (quora, QuoraConfig(shards=64)),
}


def main(name, folder, *flags):
    """Build the pipeline, translate it for Dataflow and keep what would be uploaded."""

    def stage_file(self, url, file_name, stream, mime_type="", total_size=None):
        (pathlib.Path(folder) / file_name).write_bytes(stream.read())

    apiclient.DataflowApplicationClient.stage_file = stage_file
    GcsIO.is_soft_delete_enabled = lambda self, url: False  # asks the store, only to warn
    options = parse_options([*flags, "--no_auth", "--template_location=gs://bucket/template.json"])
    pipeline = beam.Pipeline(options=options)
    module, config = CONFIGS[name]
    module.build(pipeline, config=config, **KNOWN)
    pipeline.run()
    job = (pathlib.Path(folder) / "template.json").read_text()
    assert dataflow_v1beta3.Job.from_json(job).name  # a job of the service's own type, with no field it does not know


if __name__ == "__main__":
    main(*sys.argv[1:])
