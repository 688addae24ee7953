"""Questions in the prompts of LangChain, which writes messages as JSON.

prompt -> question_of -> the question of a person, or None
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def question_of(prompt: str) -> str | None:
    """Return a plain prompt, or the text of the only message of a person; None for other messages.

    Parts of a message are joined by spaces if all of them are text; an image would be a part of the question.
    """
    try:
        messages: Any = json.loads(prompt)
    except (TypeError, ValueError, RecursionError):
        return prompt
    if not isinstance(messages, Sequence) or not all(map(_is_message, messages)):
        return prompt
    said = [m["kwargs"] for m in messages if m["kwargs"].get("type") != "system"]
    return _text(said[0].get("content")) if len(said) == 1 and said[0].get("type") == "human" else None


def _text(content: Any) -> str | None:
    """Return the text of a message's content; None if it has another part, or none."""
    parts = content if isinstance(content, list) else [content]
    given = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part for part in parts]
    texts = [text for text in given if isinstance(text, str)]
    return " ".join(texts) if texts and len(texts) == len(given) else None


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("kwargs"), dict)
