"""``qpr serve``: an index behind HTTP, with searches, answers, feedback and metrics.

index, settings -> jobs.web.server.serve -> requests, until SIGTERM
"""

from __future__ import annotations

from typing import Annotated

from jobs.options.output import folder
from jobs.web.settings import Serving
from model.search.settings import Opening


def serve(
    index: Annotated[str, folder("Index to serve; a new version at the same place is exchanged while serving.")],
    settings: Serving,
    opening: Opening,
    certificate: Annotated[
        str | None, folder("Certificate of the index; without one only its own questions are answered.")
    ] = None,
) -> None:
    """Serve an index over HTTP.

    Searches are at /search, answers at /answer, all addresses at /docs.

    SIGTERM finishes the requests that run; SIGHUP looks for a new version of the index.

    Example:
      qpr serve --index index --port 8080 --state state
    """
    import functools

    from jobs.web.server import serve as serve_index
    from model.search.searcher import open_searcher

    opener = functools.partial(open_searcher, **opening.model_dump(), certificate=certificate)
    serve_index(index, settings, opener, certificate)
