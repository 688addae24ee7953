"""The public interface for programs: open an index and search it, or encode questions with a model.

index URL -> open_index -> Index.search(question) -> list of Hit

>>> from qpr import open_index
>>> index = open_index("index")
>>> hits = index.search("how do I pay my bill", k=3)
>>> [hit.rank for hit in hits]
[1, 2, 3]
>>> both = index.search_many(["how do I pay my bill", "cancel my flight"], k=1)
>>> len(both)
2
"""

from __future__ import annotations

from qpr.shadowing import refuse_shadowed

refuse_shadowed()

from model.encoders.loading import load_encoder  # noqa: E402  # a module of the user's with such a name would be run
from model.index.hits import Hit  # noqa: E402
from model.index.index import Index  # noqa: E402
from model.search.opening import open_index  # noqa: E402
from schemas.errors import QprError, UsageError  # noqa: E402

__all__ = ["Hit", "Index", "QprError", "UsageError", "load_encoder", "open_index"]
