"""Bodies of requests, read within limits and checked against their models.

stream of a body -> read_json -> parse -> SearchBody, AnswerBody, FeedbackBody
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import pydantic
from pydantic.config import JsonDict
from starlette.requests import ClientDisconnect, Request

from jobs.web.messages.faults import Fault
from jobs.web.messages.known_names import Body, check_known
from jobs.web.messages.many_values import check_few_values
from jobs.web.messages.repeated_names import check_names
from jobs.web.settings import Limits
from model.choices import Mode
from model.search.answering import MOST_HITS
from model.text.asked import is_short
from schemas.artifacts.manifest import first_fault
from schemas.filters import MAX_VALUE_CHARACTERS
from schemas.quantities import counted

_Body = TypeVar("_Body", bound=pydantic.BaseModel)

MODE = "Way of searching; by default that of the server."

_ONE_OF: JsonDict = {"oneOf": [{"required": ["question"]}, {"required": ["questions"]}]}
"""JSON Schema of "either of both"; pydantic has no word for it."""


class Asked(Body, frozen=True):
    """Either one question or several."""

    question: str | None
    questions: list[str] | None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _either(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and ("question" in given) == ("questions" in given):
            raise ValueError("give either question or questions")
        return given

    @property
    def values(self) -> dict[str, str]:
        """Return the value of each column; empty where the index varies by none."""
        return getattr(self, "filters", {})

    @property
    def texts(self) -> list[str]:
        """Return the questions as a list."""
        return [self.question] if self.question is not None else list(self.questions or ())


class FeedbackBody(Body, frozen=True):
    """A person's verdict on an answer.

    Attributes:
        question: as it was asked.
        question_id: of the hit that was shown, None where nothing was.
        right: the answer was right; of an abstention: it was right to abstain.
        comment: any text.
        audit_id: of the drawn answer that was judged, None where it was not drawn.
    """

    audit_id: str | None
    question: str
    question_id: str | None
    right: bool
    comment: str | None


@functools.cache
def asked_model(limits: Limits, columns: tuple[str, ...], *, of: Literal["hits", "answers"]) -> type[Asked]:
    """Return the model of a body that asks for answers, or for hits in one of the ways of searching.

    Both take ``k``; answers have no hits by default, and at most `MOST_HITS`. Where an index varies by ``columns``, the
    body names a value of each.
    """
    of_hits = of == "hits"
    checked = functools.partial(checked_length, maximum=limits.max_characters)
    question = Annotated[str, pydantic.Field(max_length=limits.max_characters), pydantic.AfterValidator(checked)]
    several = Annotated[list[question], pydantic.Field(min_length=1, max_length=limits.max_questions)]
    fields: dict[str, Any] = {
        "question": (question, pydantic.Field(default=None, description="One question, in place of questions.")),
        "questions": (several, pydantic.Field(default=None, description="Several questions, in place of question.")),
    }
    minimum, maximum = (1, limits.most_k) if of_hits else (0, min(MOST_HITS, limits.most_k))
    about = f"Maximum hits of a question; of all together at most {limits.max_hits:,}."
    k = pydantic.Field(default=limits.default_k if of_hits else 0, ge=minimum, le=maximum, description=about)
    fields["k"] = (Annotated[int, pydantic.BeforeValidator(_whole)], k)
    if of_hits:
        fields["mode"] = (Mode | None, pydantic.Field(default=None, description=MODE))
    if columns:
        values = pydantic.Field(
            description="A value of each column of the index.", json_schema_extra=_object_of(columns)
        )
        have_columns = pydantic.BeforeValidator(functools.partial(check_known, known=columns, noun="column"))
        fields["filters"] = (Annotated[dict[str, str], have_columns], values)
    name = "SearchBody" if of_hits else "AnswerBody"
    have_few_hits = functools.partial(_checked_hits, maximum=limits.max_hits)
    validators: dict[str, Any] = {"_have_few_hits": pydantic.model_validator(mode="after")(have_few_hits)}
    model = pydantic.create_model(name, __base__=Asked, __validators__=validators, **fields)
    model.model_config["json_schema_extra"] = _ONE_OF
    return model


def _object_of(columns: tuple[str, ...]) -> JsonDict:
    """Return the JSON Schema of an object with these columns."""
    value: JsonDict = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARACTERS}
    return {"properties": dict.fromkeys(columns, value), "required": [*columns], "additionalProperties": False}


def checked_length(question: str, maximum: int) -> str:
    """Return a question that is short enough, also when it is normalised: that decides the time of its search.

    Raises:
        ValueError: it is longer.
    """
    if not is_short(question, maximum):
        raise ValueError(f"a question has at most {maximum:,} characters, also in Unicode's normal form NFKC")
    return question


def _checked_hits(asked: Asked, maximum: int) -> Asked:
    """Return questions that together have few enough hits, all of which one response contains."""
    count, k = len(asked.texts), getattr(asked, "k", 0)
    if count * k > maximum:
        hits = f"{count * k:,} hits, over the maximum of {maximum:,}"
        raise ValueError(f"{counted(count, 'question')} with k {k:,} would have {hits}")
    return asked


def _whole(value: Any) -> Any:
    """Return 4 for 4.0, which JSON does not distinguish."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@functools.cache
def feedback_model(limits: Limits) -> type[FeedbackBody]:
    """Return the model of feedback."""
    limit = limits.max_characters
    fields: dict[str, Any] = {
        "question": (str, pydantic.Field(max_length=limit, min_length=1, description="The question as it was asked.")),
        "question_id": (
            str | None,
            pydantic.Field(default=None, pattern=ID_PATTERN, description="Question whose answer was shown."),
        ),
        "right": (bool, pydantic.Field(description="The answer, or the abstention, was right.")),
        "audit_id": (
            str | None,
            pydantic.Field(default=None, pattern=AUDIT_PATTERN, description="request_id of the audit sample."),
        ),
        "comment": (str | None, pydantic.Field(default=None, max_length=limit, description="Remark.")),
    }
    return pydantic.create_model("FeedbackBody", __base__=FeedbackBody, **fields)


AUDIT_PATTERN = "^[0-9a-f]{32}$"

ID_PATTERN = "^-?[0-9]{1,19}$"
"""A 64-bit id as a string: JavaScript rounds integers beyond 2**53."""


async def read_json(request: Request, model: type[_Body], limits: Limits, *, most_listed: int) -> _Body:
    """Return the body of a request.

    Args:
        request: that has it.
        model: that it has to fit.
        limits: of requests.
        most_listed: as of `check_few_values`.

    Raises:
        Fault: it is too large (413), no JSON (400, 415), or has too many values, has a name twice or does
            not fit the model (422).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a foreign page can send a form or plain text without a question to the server
        raise Fault(415, "send the body as application/json", "content_type")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Fault(415, "send the body without compression", "content_encoding", {"Accept-Encoding": "identity"})
    content = await _read_limited(request, limits.max_body_kb * 1024)
    check_few_values(content, most_listed)
    try:
        body = model.model_validate_json(content)
    except pydantic.ValidationError as error:
        status = 400 if error.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid" else 422
        raise Fault(status, f"body: {first_fault(error)}") from error
    check_names(content)
    return body


async def _read_limited(request: Request, limit: int) -> bytes:
    """Return the body, of which at most ``limit`` bytes are kept in memory."""
    text = f"the body is larger than {limit // 1024:,} KiB; send fewer or shorter texts"
    too_large = Fault(413, text, "body", {"Connection": "close"})
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > limit:
        raise too_large
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > limit:
                raise too_large
    except ClientDisconnect as error:
        raise Fault(400, "the body ended too soon", "disconnected") from error
    return bytes(content)
