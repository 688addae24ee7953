"""HTML that cannot be broken by what it shows: every text is escaped, by the standard library.

tag, children -> el -> document -> bytes
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from xml.etree.ElementTree import Element

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What HTML does not allow in a text."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is loaded and no script is run, even if one got in."""


def el(tag: str, *children: Element | str, **attributes: str | int | float) -> Element:
    """Return an element; of an attribute's name a trailing underscore is dropped, others become hyphens."""
    element = Element(tag, {name.rstrip("_").replace("_", "-"): _text(str(v)) for name, v in attributes.items()})
    for child in children:
        if isinstance(child, Element):
            element.append(child)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + _text(child)
        else:
            element.text = (element.text or "") + _text(child)
    return element


def document(title: str, style: str, *body: Element) -> bytes:
    """Return a whole page that needs nothing beside itself, as UTF-8.

    Args:
        title: of the page.
        style: the style sheet, which is not escaped.
        body: what the page holds.
    """
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", style),
    )
    page = ET.tostring(el("html", head, el("body", *body), lang="en"), encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{page}\n".encode()


def _text(text: str) -> str:
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)
