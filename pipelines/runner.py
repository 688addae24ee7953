"""Which engine runs a pipeline, and with which of Beam's options.

flags after ``--`` -> parse_options -> run(build, options)
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Sequence
from typing import NoReturn

import apache_beam as beam
from apache_beam.options.pipeline_options import (
    DirectOptions,
    PipelineOptions,
    StandardOptions,
    _BeamArgumentParser,
)

from schemas.errors import QprError, UsageError

IN_PROCESS = "FnApiRunner"
_DIRECT_NAMES = ("directrunner", "direct", "switchingdirectrunner", "bundlebaseddirectrunner")


def parse_options(flags: Sequence[str], *, say: Callable[[str], None] = lambda _: None) -> PipelineOptions:
    """Return Beam's options from command-line flags; without a runner, the in-process `FnApiRunner`.

    Args:
        flags: what stood after ``--``.
        say: receives a note for the user.

    Raises:
        UsageError: a flag Beam does not know, or a mode that loses rows.
    """
    _refuse_unknown(flags)
    options = PipelineOptions(list(flags), pickle_library="cloudpickle")
    if options.view_as(DirectOptions).direct_running_mode == "multi_threading":
        raise UsageError(
            "--direct_running_mode=multi_threading loses rows in Apache Beam: a timed flush races with the writers. "
            "Use in_memory (the default) or multi_processing"
        )
    standard = options.view_as(StandardOptions)
    if standard.runner is None or standard.runner.lower() in _DIRECT_NAMES:
        if standard.runner is not None:
            say(f"--runner={standard.runner}: using {IN_PROCESS}, Beam's in-process runner; nothing is downloaded")
        standard.runner = IN_PROCESS
    return options


def run(build: Callable[[beam.Pipeline], None], options: PipelineOptions) -> None:
    """Build a pipeline, run it and wait for its end.

    Raises:
        QprError: the engine reports that the pipeline did not finish.
    """
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)  # the error itself says more than its log lines
    pipeline = beam.Pipeline(options=options)
    build(pipeline)
    result = pipeline.run()
    state = result.wait_until_finish() or result.state
    if state != "DONE":
        raise QprError(f"the pipeline ended as {state}; the engine's own log says why. Nothing was published")


class _OneLineParser(_BeamArgumentParser):
    """Beam's parser, but a wrong value is an error of one line instead of the usage of 200 options."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"Beam takes no such value: {message}")


def _refuse_unknown(flags: Sequence[str]) -> None:
    parser = _OneLineParser(allow_abbrev=False)
    for kind in dict.fromkeys(PipelineOptions.__subclasses__()):
        if kind.__module__.startswith("apache_beam."):
            kind._add_argparse_args(parser)
    known, unknown = parser.parse_known_args(list(flags))
    if unknown:
        name = unknown[0].split("=")[0]
        near = difflib.get_close_matches(name.lstrip("-"), vars(known), n=1)
        raise UsageError(f"Beam has no option {name}" + (f"; did you mean --{near[0]}?" if near else ""))
