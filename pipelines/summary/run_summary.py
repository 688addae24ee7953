"""Summary of a finished run.

run -> RunSummary -> report.html, warnings
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipelines.questions.answer_texts import many_text_warnings
from pipelines.questions.changed_answers import change_warnings
from pipelines.summary import agreement, answer_worth, fallbacks, incoherent_intents, script_shares, value_notes
from pipelines.summary.cluster_summary import ClusterSummary
from pipelines.summary.faults import selected_rows
from pipelines.summary.reject_examples import RejectExamples
from pipelines.writing.reported import BroadAnswer, ChangedAnswer, JudgedAnswer
from schemas.artifacts.manifest import Source
from schemas.quantities import counted


class RunSummary(NamedTuple):
    """Result of a run, before it is published.

    Attributes:
        url: folder of the dataset.
        run_id: name of the run's folder.
        seconds: duration so far.
        fault: reason why the run will not be published, None if it will be.
        inputs: the files that were read.
        configuration: settings, as in the manifest.
        counters: as in the manifest.
        clusters: distributions and examples of clusters.
        leakage: content of ``leakage.json``.
        rejects: examples of rejected rows and questions, for every reason.
        fallbacks: answers that look like a fallback, the most frequent first.
        judged_answers: answers of many questions with the lowest or highest worth of a shard.
        changed_answers: answers that changed during the log, those of most questions first.
    """

    url: str
    run_id: str
    seconds: float
    fault: str | None
    inputs: list[Source]
    configuration: dict[str, Any]
    counters: dict[str, int]
    clusters: ClusterSummary
    leakage: dict[str, Any]
    rejects: Sequence[RejectExamples] = ()
    fallbacks: Sequence[BroadAnswer] = ()
    judged_answers: Sequence[JudgedAnswer] = ()
    changed_answers: Sequence[ChangedAnswer] = ()

    @property
    def warnings(self) -> list[str]:
        """Return sentences about estimates, fallbacks, changed and varied answers, lost intents, HTML and scripts."""
        ignored = self.configuration.get("validation", {}).get("ignored_answers", ())
        linking = self.configuration.get("assembly", {}).get("linking", {})
        undecided = linking.get("method") != "none" and linking.get("answers", "auto") == "auto"
        rows = selected_rows(self.counters)
        incoherent = incoherent_intents.incoherent_intents(self.counters, self.configuration)
        return [
            *fallbacks.idle_answers(ignored, self.counters),
            *fallbacks.warnings(self.fallbacks, rows=rows, undecided=undecided),
            *change_warnings(self.changed_answers),
            *many_text_warnings(self.counters, self.configuration.get("column_names") or {}, rows=rows),
            *incoherent_intents.warnings(incoherent),
            *answer_worth.warnings(self.configuration, self.inputs),
            *answer_worth.doubts(answer_worth.answer_worth(self.counters, self.configuration, self.inputs)),
            *agreement.warnings(self.counters, self.configuration),
            *unmatched_verdicts(self.configuration, self.counters),
            *value_notes.markup_warnings(self.counters),
            *value_notes.varied_answer_warnings(self.counters),
            *value_notes.text_warnings(self.counters),
            *script_shares.warnings(script_shares.script_shares(self.counters)),
        ]

    @property
    def notes(self) -> list[str]:
        """Return sentences for the report about protection that the run did not use."""
        if self.configuration.get("privacy", {}).get("min_users", 2) > 1:
            return []
        return [
            "Questions are in this dataset however few users asked them. --min-users 5 rejects those of fewer than "
            "five users; it needs the column user_id"
        ]


def unmatched_verdicts(configuration: Mapping[str, Any], counters: Mapping[str, int]) -> list[str]:
    """Return a sentence if clusters that verdicts reject are not in the log, nothing otherwise."""
    reviewed = configuration.get("assembly", {}).get("reviewed") or {}
    named = {*reviewed.get("wrong", ()), *(cluster for cluster, _ in reviewed.get("strays", ()))}
    missing = len(named) - counters.get("verdicts_found", 0)
    if not missing:
        return []
    return [
        f"--verdicts: {missing:,} of {counted(len(named), 'cluster')} that the file rejects, or in which it marks "
        "strays, are not in this log, or not with these questions. Clusters of another log have other names: if most "
        "are missing, judge this dataset by `qpr review`"
    ]
