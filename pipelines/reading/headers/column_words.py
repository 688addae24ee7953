"""Usual names of columns in logs, by our name for the column."""

from __future__ import annotations

from typing import Final

COLUMN_WORDS: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(words.split())
    for name, words in {
        "question": "question questions q query utterance request prompt ask asked"
        " frage anfrage pregunta consulta pergunta domanda vraag requête demande fråga pytanie soru"
        " вопрос питання 質問 问题 問題 質疑 질문 سؤال प्रश्न text input message",
        "answer": "answer answers a ans reply response output completion resolution solution told"
        " antwort respuesta resposta risposta réponse reponse antwoord svar odpowiedź cevap"
        " ответ відповідь 回答 答え 答案 답변 جواب उत्तर",
        "answer_id": "answerid answer_id aid intent intentid response_id responseid",
        "timestamp": "ts time timestamp date datetime created createdat created_at at when logged"
        " datum zeit zeitstempel zeitpunkt fecha hora data horodatage heure tijd дата время 日時 时间 時間 날짜",
        "user_id": "user userid user_id uid customer customerid session sessionid client"
        " benutzer nutzer kunde usuario utilisateur utente gebruiker пользователь 用户 ユーザー",
        "confidence": "conf confidence score probability prob certainty konfidenz konfidenzwert"
        " confianza confiance confiança confidenza уверенность 信頼度 置信度",
        "locale": "lang language locale sprache idioma langue lingua taal язык 言語 语言",
        "gold": "gold label topic intent cluster thema tema sujet",
    }.items()
}
"""Lower case, the most specific first; compared with a whole name and with its words."""

_STATES: Final = ("name", "status", "code", "type", "url", "time", "date", "hrs")  # such as Resolution status
IDENTIFIER_WORDS: Final = frozenset(
    ("id", "ids", "uuid", "key", "nr", "no", "number", "count", "length", "hash", *_STATES)
)
"""Words in the name of a column that holds neither questions nor answers, whatever its other words are."""
