"""Acknowledgements: answers that only confirm a request, whatever was asked.

answer -> is_acknowledgement -> whether nothing in it depends on the question

An assistant answers "Okay." to "pause the music" and to "lights off". Words of such requests repeat, so their likeness
does not show that they mean different things.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

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


def is_acknowledgement(answer: str) -> bool:
    """Return whether an answer has no other words than those of a confirmation, in one of some languages."""
    line = unicodedata.normalize("NFC", answer[: _LONGEST + 1]).replace("’", "'")
    words = " ".join(_NO_WORD.sub(" ", line).split())
    return len(line) <= _LONGEST and _ACKNOWLEDGEMENT.fullmatch(words) is not None
