"""``qpr certify``: from judged requests to a certificate of an index's answers, and the watch over it.

index, requests file -> certificate; certificate, judged answers -> monitor; promise -> simulated certificates
"""

from __future__ import annotations

from collections.abc import Collection
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
    certificate: Annotated[
        str | None, folder("In place of --index: certificate in use, to show it with its audits.")
    ] = None,
    audit: Annotated[
        str | None, typer.Option(metavar="FILE", help="Judged answers that the certificate gave, to add to its audits.")
    ] = None,
    *,
    settings: Certification,
    opening: Opening,
    simulation: Simulation,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Certify a maximum share of wrong answers by judged requests.

    A requests file has the columns question, verdict (right, wrong, unclear), asked_at and labeller, and those by which
    the index varies; optional are probability, answer_id and request_id. 30 % of the requests order the thresholds,
    70 % test them.

    A file of answers that were given has request_id, verdict, labeller and certificate; `qpr serve --state` writes it.
    If too many are wrong, an alarm ends the certificate: only questions of the index itself are answered then.

    Examples:
      qpr answer --index index --json < requests.txt > to_judge.jsonl
      qpr certify --index index --requests judged.csv --output certificate
      qpr certify --certificate certificate --audit state/audit.jsonl
      qpr certify --simulate --alpha 0.02 --delta 0.05
    """
    if simulation.simulate:
        from jobs.workflows.certificates.simulation import print_simulation

        if index or requests or output or certificate or audit:
            raise UsageError("--simulate: needs no --index, --requests, --output or --certificate. Leave them out")
        _refuse(settings.model_fields_set - {"alpha", "delta"} | opening.model_fields_set, overwrite, "--simulate")
        print_simulation(settings, simulation, as_json=as_json)
        return
    if simulation.model_fields_set:
        raise UsageError("--draws, --sample and --seed: belong to --simulate. Leave them out")
    if certificate or audit:
        if not certificate:
            raise UsageError("--audit: needs --certificate")
        if index or requests or output:
            raise UsageError("--certificate: shows a certificate in use. Leave out --index, --requests and --output")
        _refuse(settings.model_fields_set | opening.model_fields_set, overwrite, "--certificate")
        from jobs.workflows.certificates.auditing import print_audits

        print_audits(certificate, audit, as_json=as_json)
        return
    if not (index and requests and output):
        raise UsageError("give --index, --requests and --output, or --certificate, or --simulate")
    from jobs.workflows.certificates.certification import write_certification

    write_certification(index, requests, settings, opening, output=output, overwrite=overwrite, as_json=as_json)


def _refuse(given: Collection[str], overwrite: bool, of: str) -> None:
    """Refuse options of a certification where nothing is certified."""
    names = sorted([*given, *(["overwrite"] if overwrite else [])])
    if names:
        option = f"--{names[0].replace('_', '-')}"
        raise UsageError(f"{option}: is of a certification and cannot be given with {of}. Leave it out")
