"""Steps of the graph of logs that name the questions of a shard, settle their answers and choose the texts of these.

ASKED and EARLIER of whole questions -> name_and_settle -> QUESTIONS, MEMBERS, token counts, ANSWER_FORMS, REJECTS
ANSWER_FORMS of whole answers -> choose_texts -> present texts of answer ids
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa

from pipelines.ingestion.earlier import place_earlier
from pipelines.privacy.k_users import limit_users
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey
from pipelines.questions.aggregation import name_questions
from pipelines.questions.ambiguity import settle_answers, with_settled_answers
from pipelines.questions.answer_texts import current_texts, forms_of_ids
from pipelines.questions.changed_answers import changed_answers
from pipelines.questions.settings import Ambiguity
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written


def name_and_settle(
    of_questions: tuple[pa.Table, pa.Table | None],
    ambiguity: Ambiguity,
    privacy: Privacy,
    user_key: UserKey | None = None,
    since: datetime.datetime | None = None,
) -> Iterator[Any]:
    """Yield the questions of a shard, their MEMBERS, ANSWER_FORMS, rejects, token counts and numbers of members.

    Args:
        of_questions: ASKED of whole questions, and EARLIER of those that an earlier version had.
        ambiguity: limits of the answers to keep.
        privacy: limits of users.
        user_key: of the hashes of questions that are written.
        since: beginning of the log, where there are earlier versions.
    """
    asked, earlier = of_questions
    limited = limit_users(asked, privacy, user_key)
    if len(limited.rejects):
        yield beam.pvalue.TaggedOutput(TAG, limited.rejects)
    if not len(limited.asked):
        return
    named = name_questions(limited.asked)
    settled = settle_answers(named.members, ambiguity)
    yield with_settled_answers(named.questions, settled.members)
    yield beam.pvalue.TaggedOutput("members", place_earlier(settled.members, earlier, since))
    yield beam.pvalue.TaggedOutput(TAG, settled.rejects)
    yield beam.pvalue.TaggedOutput("token_counts", named.token_counts)
    forms = forms_of_ids(limited.asked)
    if len(forms):
        yield beam.pvalue.TaggedOutput("answer_forms", forms)
    counted = Written(None, settled.counts, changed_answers=changed_answers(limited.asked))
    yield beam.pvalue.TaggedOutput("written", counted)


def choose_texts(forms: pa.Table) -> Iterator[Any]:
    """Yield the present texts of answer ids with several, and how many ids have many.

    Args:
        forms: ANSWER_FORMS of whole answers.
    """
    texts, counts = current_texts(forms)
    if len(texts):
        yield texts
    yield beam.pvalue.TaggedOutput("written", Written(None, counts))
