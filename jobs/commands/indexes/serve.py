"""``qpr serve``: an index behind HTTP, with searches, answers, feedback and metrics.

index, settings -> jobs.web.server.serve -> requests, until SIGTERM
"""

from __future__ import annotations

from typing import Annotated

from jobs.options.output import folder
from jobs.options.warehouse import IndexCertificate, VersionAt, VersionWarehouse
from jobs.web.settings import Serving
from model.search.settings import Opening


def serve(
    index: Annotated[
        str | None, folder("Index to serve; a new version at the same place is exchanged while serving.")
    ] = None,
    warehouse: VersionWarehouse = None,
    at: VersionAt = None,
    certificate: IndexCertificate = None,
    *,
    settings: Serving,
    opening: Opening,
) -> None:
    """Serve an index over HTTP.

    Searches are at /search, answers at /answer, all addresses at /docs.

    SIGTERM finishes the requests that run; SIGHUP looks for a new version of the index.

    With --warehouse a newer version is exchanged too, unless --at names one; `qpr gc` removes nothing of a served one.

    Examples:
      qpr serve --index index --port 8080 --state state
      qpr serve --warehouse warehouse
      qpr serve --warehouse warehouse --at 42
    """
    from jobs.commands.indexes.search_process import command, opener
    from jobs.web.server import serve as serve_index
    from jobs.workflows.warehouses.version_reading import Readable

    serve_index(Readable(index, certificate, warehouse, at), settings, opener(opening), command(opening))
