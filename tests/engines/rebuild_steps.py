"""Rebuild every step of a job as a worker does: python rebuild_steps.py JOB, in the environment of the worker.

It prints JSON: how many functions and coders there were, the modules of ours they needed and where those lie.
"""

import json
import sys

from apache_beam.internal import pickler
from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.pipeline_context import PipelineContext
from apache_beam.transforms.core import CombineFn, DoFnInfo

COMBINES = {
    common_urns.composites.COMBINE_PER_KEY.urn,
    common_urns.combine_components.COMBINE_PER_KEY_PRECOMBINE.urn,
    common_urns.combine_components.COMBINE_PER_KEY_MERGE_ACCUMULATORS.urn,
    common_urns.combine_components.COMBINE_PER_KEY_EXTRACT_OUTPUTS.urn,
}


def rebuild(pipeline):
    """Return how many functions and coders were rebuilt."""
    context = PipelineContext(pipeline.components)
    functions = 0
    for transform in pipeline.components.transforms.values():
        if transform.spec.urn == common_urns.primitives.PAR_DO.urn:
            spec = beam_runner_api_pb2.ParDoPayload.FromString(transform.spec.payload).do_fn
            pickler.loads(DoFnInfo.from_runner_api(spec, context).serialized_dofn_data())
        elif transform.spec.urn in COMBINES:
            spec = beam_runner_api_pb2.CombinePayload.FromString(transform.spec.payload).combine_fn
            CombineFn.from_runner_api(spec, context)
        else:
            continue
        functions += 1
    for name in pipeline.components.coders:
        context.coders.get_by_id(name)
    return {"functions": functions, "coders": len(pipeline.components.coders)}


if __name__ == "__main__":
    pickler.set_library("cloudpickle")
    with open(sys.argv[1], "rb") as file:
        found = rebuild(beam_runner_api_pb2.Pipeline.FromString(file.read()))
    ours = {
        n: m.__file__ for n, m in sys.modules.items() if n.split(".")[0] in ("schemas", "pipelines", "model", "jobs")
    }
    print(json.dumps({**found, "modules": ours}))
