"""The public interface for programs: open an index and search it, or encode questions with a model.

index URL -> open_searcher -> Searcher.search(question) -> list of Hit; Searcher.answer(question) -> Answer

>>> from qpr import open_searcher
>>> searcher = open_searcher("index")
>>> hits = searcher.search("how do I pay my bill", k=3)
>>> [hit.rank for hit in hits]
[1, 2, 3]
>>> both = searcher.search_many(["how do I pay my bill", "cancel my flight"], k=1)
>>> len(both)
2
"""

from __future__ import annotations

import sys

from qpr.shadowing import refuse_shadowed

refuse_shadowed()

from schemas.errors import NO_WINDOWS, QprError, UsageError  # noqa: E402  # a module of the user's would be run

if sys.platform == "win32":
    raise ImportError(NO_WINDOWS)

from model.encoders.interface import Encoder  # noqa: E402
from model.encoders.loading import load_encoder  # noqa: E402
from model.index.ranking import Ranking  # noqa: E402
from model.search.results import Answer, Hit, Why  # noqa: E402
from model.search.searcher import Searcher, open_searcher  # noqa: E402

__all__ = [
    "Answer",
    "Encoder",
    "Hit",
    "QprError",
    "Ranking",
    "Searcher",
    "UsageError",
    "Why",
    "load_encoder",
    "open_searcher",
]
