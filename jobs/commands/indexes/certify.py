"""``qpr certify``: from judged requests to a certificate of an index's answers.

index, requests file -> certificate; promise -> simulated certificates with known truth
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson, Overwrite, folder, lasting
from model.certificates.settings import Certification, Simulation
from model.search.settings import Opening
from schemas.errors import UsageError


def certify(
    index: Annotated[str | None, folder("Index to certify.")] = None,
    requests: Annotated[
        str | None, typer.Option(metavar="FILE", help="Judged requests: .csv, .tsv, .jsonl or .parquet.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", callback=lasting, metavar="FOLDER", help="Certificate to write.")
    ] = None,
    *,
    settings: Certification,
    opening: Opening,
    simulation: Simulation,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Certify a maximum share of wrong answers by judged requests.

    A requests file has the columns question, verdict (right, wrong, unclear), asked_at and labeller; optional are
    probability, answer_id and request_id. 30 % of the requests order the thresholds, 70 % test them.

    Examples:
      qpr answer --index index --json < requests.txt > to_judge.jsonl
      qpr certify --index index --requests judged.csv --output certificate
      qpr certify --simulate --alpha 0.02 --delta 0.05
    """
    if simulation.simulate:
        from jobs.workflows.certificates.simulation import print_simulation

        if index or requests or output:
            raise UsageError("--simulate: needs no --index, --requests or --output. Leave them out")
        print_simulation(settings, simulation, as_json=as_json)
        return
    if simulation.model_fields_set:
        raise UsageError("--draws, --sample and --seed: belong to --simulate. Leave them out")
    if not (index and requests and output):
        raise UsageError("give --index, --requests and --output, or --simulate")
    from jobs.workflows.certificates.certification import write_certification

    write_certification(index, requests, settings, opening, output=output, overwrite=overwrite, as_json=as_json)
