"""Refusal of JSON with more values than any request has, before it is read into objects.

bytes of a body -> check_few_values
"""

from __future__ import annotations

from typing import Final

from jobs.web.messages.faults import Fault

MORE: Final = 100
"""Maximum values of a body besides those of a list: fields, and columns by which an index varies."""


def check_few_values(content: bytes, most_listed: int) -> None:
    """Check that a body has few enough commas outside strings, and few enough strings, to be a request.

    1 MB of empty lists is 350,000 objects: to read them takes .2 CPU s, in which no other request is answered.

    Args:
        content: of a body, perhaps no JSON.
        most_listed: maximum number of values in the list of a request, such as questions.

    Raises:
        Fault: it has more (422).
    """
    most = most_listed + MORE
    quotes = 2 * (most + MORE)  # of values, and of names
    parts = content.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"', quotes + 1)
    if len(parts) > quotes + 1 or sum(part.count(b",") for part in parts[::2]) > most:
        raise Fault(422, f"body: has more than {most:,} values. Send fewer")
