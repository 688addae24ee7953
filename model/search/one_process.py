"""Objects that stay in one process, whose memory has the mapped files of an index.

Searcher -> OfOneProcess -> the same object as its copy, an error where it would be pickled
"""

from __future__ import annotations

from typing import NoReturn, Self


class OfOneProcess:
    """Base of classes whose objects are neither copied nor sent to other processes."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return the same object, so that a model with a cache that has one can be copied."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled.

        Raises:
            TypeError: always.
        """
        name = type(self).__name__
        raise TypeError(f"a {name} does not pickle, since it maps files. Open one in the initializer of each process")
