"""Stock answers: a bot gives them whatever was asked, or an export writes them where there was no answer.

answer -> is_acknowledgement, is_placeholder, is_opening -> whether nothing in it depends on the question

An assistant answers "Okay." to "pause the music" and to "lights off". Words of such requests repeat, so their likeness
does not show that they mean different things.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pipelines.questions.markup import without_markup

_PHRASES: Final = (
    r"ok|okay|k|sure( thing)?|done|got it|al(l )?right|will do|of course|no problem|right away|sounds good|you got it",
    r"okej|okei|oké|oke|erledigt|alles klar|in ordnung|geht klar|mach ich|wird gemacht|gerne?|klar",
    r"d'accord|c'est (fait|noté|parti)|entendu|bien sûr|très bien|vale|hecho|listo|de acuerdo|entendido|claro|muy bien",
    r"va bene|fatto|d'accordo|certo|feito|pronto|está bem|combinado|tudo bem|gedaan|komt (voor elkaar|in orde)|prima",
    r"klart|visst|selvfølgelig|færdig|ferdig|selvä|dobrze|gotowe|zrobione|jasne|dobře|hotovo|rendben|kész",
    r"хорошо|готово|сделано|ладно|окей|добре|зроблено|εντάξει|έγινε|tamam|peki|oldu|baik|xong|được rồi",
    r"حسنا|حسنًا|تم|باشه|انجام شد|בסדר|בוצע|ठीक है|हो गया|ঠিক আছে|ได้เลย|โอเค",
    r"好的|好|没问题|沒問題|收到|已完成|了解(です|しました)?|わかりました|かしこまりました|承知しました|알겠습니다|알겠어요|완료",
)

_PHRASE: Final = "|".join(_PHRASES)
_ACKNOWLEDGEMENT: Final = re.compile(
    unicodedata.normalize("NFC", rf"({_PHRASE})(\s({_PHRASE}|then|dann))*"), re.IGNORECASE
)
_LONGEST: Final = 60
_NO_WORD: Final = re.compile(r"[^\w\s'\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff]+")
"""Punctuation and pictures; marks of Indian scripts and of Thai and Lao, which are no letters, are parts of words."""

_PLACEHOLDERS: Final = re.compile(
    r"nul+|nil|none|nan|n\.?/?a\.?|undefined|empty|missing|unknown|#(n/a|null!|ref!|value!|name\?|div/0!)"
    r"|k\.? ?a\.?|leer|s/o|n/d|vide|vac[ií]o|nulo|\\n",
    re.IGNORECASE,
)
"""Texts that programs and people write where there is no value, without brackets around them."""

_REMOVED: Final = re.compile(r"\[(deleted|removed)\]", re.IGNORECASE)
"""A site writes it in brackets in place of a text; "Deleted." confirms a request."""

_BRACKETS: Final = "()[]{}<>\"'`“”„"
_PUNCTUATION: Final = frozenset(("P", "Z", "C"))
"""First letters of the Unicode categories of punctuation, spaces and control characters."""

_OPENINGS: Final = (
    r"(how|what) (can|may|could) (i|we) (help|assist|do for)( you)?|anything else (that )?(i|we|you)\b",
    r"(wie|womit|wobei) (kann|können|darf|dürfen) (ich|wir) (\w+ ){0,2}(helfen|behilflich)",
    r"kann ich (\w+ )?sonst noch|puis je (vous |t'|faire )?(\w+ )?(aider|autre)|autre chose pour (vous|toi)",
    r"(puedo|podemos) ayudar|(posso|possiamo) (\w+ )?(aiutar|ajud)|(waarmee|hoe) (kan|kunnen) (ik|wij?) (\w+ )?helpen",
    r"^(hi|hello|hey|welcome|hallo|guten tag|willkommen|moin|servus)( \w+){0,4}$",
    r"^(bonjour|salut|bienvenue|hola|ciao|olá|oi)( \w+){0,4}$",
)
_HAND_OVERS: Final = (
    r"\b(connect|transferr?|forward|redirect|put|hand|pass)(ing)? (you|your \w+|it) (\w+ ){0,3}(to|with|through)\b",
    r"(agent|colleague|advisor|representative) will (\w+ )?(be with|contact|take over|join|help|reply|answer)",
    r"(one|just a|a) (moment|second|minute)\b|^please (wait|hold|choose|select|pick)",
    r"\b(verbinde|leite|übergebe)\b.*\b(kolleg|mitarbeit|berater|team|weiter)|(einen|kleinen) (\w+ )?moment\b",
    r"^bitte (warte|wähle)|\b(transf[eè]re|redirige|mets) .*\b(agent|conseill|collègue|relation)|^(veuillez )?choisi",
    r"\b(un instant|un momento|um momento|een moment)\b|\b(transfiero|paso|comunico|conecto) (con|a) ",
    r"\b(trasferisco|metto in contatto|transferir|encaminhar)\b|\bverbind (u|je) (\w+ )?door\b",
    r"^(elija|elige|selecciona)",
)
_OPENING: Final = re.compile(unicodedata.normalize("NFC", "|".join((*_OPENINGS, *_HAND_OVERS))), re.IGNORECASE)
_LONGEST_OPENING: Final = 200
_SENTENCE_END: Final = re.compile(r"[.!?…\n]+(?:\s|$)")
_BUTTON: Final = re.compile(r"\[[^\]]*\]")


def is_acknowledgement(answer: str) -> bool:
    """Return whether an answer has no other words than those of a confirmation, in one of some languages."""
    line = unicodedata.normalize("NFC", answer[: _LONGEST + 1]).replace("’", "'")
    words = " ".join(_NO_WORD.sub(" ", line).split())
    return len(line) <= _LONGEST and _ACKNOWLEDGEMENT.fullmatch(words) is not None


def is_placeholder(answer: str) -> bool:
    """Return whether an answer stands for a missing one: "NULL", "N/A", "[deleted]", "-", or HTML without a text."""
    if len(answer) > _LONGEST:
        return False
    text = without_markup(answer).strip()
    if _REMOVED.fullmatch(text):
        return True
    bare = text.strip(_BRACKETS).strip()
    is_punctuation = all(unicodedata.category(character)[0] in _PUNCTUATION for character in bare)
    return is_punctuation or _PLACEHOLDERS.fullmatch(bare) is not None


def is_opening(answer: str) -> bool:
    """Return whether a short answer only greets, offers help or a choice, or hands over to a person."""
    if len(answer) > _LONGEST_OPENING:
        return False
    line = unicodedata.normalize("NFC", _BUTTON.sub(" ", answer)).replace("’", "'")
    parts = [" ".join(_NO_WORD.sub(" ", part).split()) for part in _SENTENCE_END.split(line)]
    sentences = [part for part in parts if part]
    return bool(sentences) and all(_OPENING.search(sentence) for sentence in sentences)
