"""Stock answers: a bot gives them whatever was asked, or an export writes them where there was no answer.

answer -> is_apology, is_acknowledgement, is_placeholder, is_opening -> whether nothing in it depends on the question

An assistant answers "Okay." to "pause the music" and to "lights off". Words of such requests repeat, so their likeness
does not show that they mean different things.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pipelines.questions.answer_texts import on_one_line
from pipelines.questions.markup import without_markup

_PHRASES: Final = (
    r"ok|okay|k|sure( thing)?|done|got it|al(l )?right|will do|of course|no problem|right away|sounds good|you got it",
    r"noted|theek hai|accha|हो जाएगा|tá bom|beleza",
    r"okej|okei|oké|oke|erledigt|alles klar|in ordnung|geht klar|mach ich|wird (gemacht|erledigt)|gerne?|klar",
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
"""Maximum number of characters of an acknowledgement or a placeholder."""

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

_LONGEST_APOLOGY: Final = 200
"""Maximum number of characters of an apology: a long answer may have such a phrase beside information."""

_APOLOGIES: Final = (
    r"(?<!\byou )\b(do|did|could|can)(n't|'t| ?not) (quite )?(understand|get that|catch that|know|help|answer)",
    r"\b(no answer|not sure (i understand|how to help|about that)|trouble (understand|hear)ing)",
    r"\bdo(n't| ?not) have an(y)? answer|\b(i|we) do(n't| ?not) have (any |that )?information",
    r"\bi('m| am) (not able|unable) to (understand|answer|help)|\bi (could|can)(n't| ?not) find an",
    r"^\W*(sorry\W+)?no (results?|matches|answers?) (were |was )?found",
    r"^((please|can you|could you) ){1,2}re(phrase|word)",
    r"\b(dazu|darüber|hierzu)\b.*\bleider (keine (information|angabe|auskunft)|nichts (sagen|finden))",
    r"\bkonnte (ich )?(dazu )?nichts (dazu )?finden|\bfrage .*\banders (stellen|formulieren)",
    r"formulieren sie .*\banders",
    r"nicht (\w+ )?(verstanden|beantworten|(weiter)?helfen)|\bverstehe\b.*\bnicht|weiß\b.*\bnicht|keine antwort",
    r"pas (bien )?compris|comprends pas|ne sais pas|pas de réponse|je n'ai (pas|rien) trouvé"
    r"|(pouvez[- ]vous|peux[- ]tu|veuillez) reformuler|je ne suis pas sûre? de comprendre",
    r"\bno (\w+ ){0,2}(entend|entiend|comprend)|no lo sé|não (te |o )?(entendi|compreendi|sei)"
    r"|no tengo (\w+ )?(información|respuesta)|no encontré (\w+ )?(respuesta|resultado|información)"
    r"|no puedo (\w+ )?(ayudar|responder)|(puedes|podrías|puede|podría) reformular"
    r"|não cons(egui|igo) (\w+ )?(entender|compreender|ajudar|responder)|não posso (\w+ )?(ajudar|responder)"
    r"|não (tenho|encontrei) (\w+ )?(respost|informaç|resultado)|pode reformular"
    r"|non ho trovato (\w+ )?rispost|non posso (\w+ )?(aiutar|rispond)"
    r"|non ho capito|non capisco|non lo so|n-am înțeles|nu am înțeles|nu înțeleg",
    r"daar heb ik .*geen antwoord",
    r"niet begrepen|begrijp\b.*\bniet|weet\b.*\bniet|jag förstår\b.*\binte|förstod (\w+ )?inte"
    r"|jeg forst(å|o)\w+\b.*\bikke|en ymmärtänyt|en ymmärrä|nem értem|nem értettem",
    r"я не наш[её]л|не могу (\w+ )?(ответ|найти|помочь)|у меня нет (\w+ )?(ответа|информации)|nie znam odpowiedzi",
    r"не понял|не понимаю|не знаю|не удалось понять|не зрозумі(в|ла)\b|не розумію|nie rozumiem"
    r"|nie zrozumiał[ae]m|nerozumím|nerozuměl|δεν κατάλαβα|δεν καταλαβαίνω|δεν γνωρίζω",
    r"bilgim yok|anlamadım|anlayamadım|anlamıyorum|bilmiyorum|saya (\w+ )?(tidak|kurang) (mengerti|paham)"
    r"|\b(tôi|em|mình) (\w+ )?(không|chưa) hiểu|samajh nahin? (aaya|paya)",
    r"(لم|لا) (أفهم|افهم|أعرف|اعرف)|متوجه نشدم|متوجه نمی\W?شوم|نفهمیدم|نمی\W?دانم|سمجھ نہیں (آیا|سکا|پایا)",
    r"לא הבנתי|אני (\w+ )?לא מבי[ןנ]|איני יודע",
    r"मुझे .*नहीं पता|لا (أستطيع|يمكنني) (المساعدة|الإجابة|مساعدت)|لم أجد (إجابة|جوابا)",
    r"समझ(ा|ी) नहीं|(समझ नहीं|नहीं समझ) पा(या|ई)|समझ में नहीं आया|বুঝতে পারিনি|বুঝতে পারছি না|বুঝিনি|எனக்கு.*புரியவில்லை",
    r"(?<!คุณ)(?<!ท่าน)ไม่เข้าใจ|(?<!ທ່ານ)ບໍ່ເຂົ້າໃຈ|ខ្ញុំមិនយល់|နားမလည်ပါ(?!က)",
    r"^(\W|抱歉|很|对不起|不好意思|暂时|我)*没有?(理解|找到)|[无無]法回答|お答えできません|(回答|答え|情報)[がは]見つかりません",
    r"답변을 찾을 수 없(습니다|어요)",
    r"[听聽]不懂|没听懂|沒聽懂|不太?明白|不太?理解|不知道|分かりません|わかりません|理解できません|이해하지 못|모르겠",
)
"""Phrases of answers that were given where nothing was understood or found, in several languages."""

_APOLOGY: Final = re.compile(unicodedata.normalize("NFC", "|".join(_APOLOGIES)), re.IGNORECASE)

_OPENINGS: Final = (
    r"(how|what) (can|may|could) (i|we) (help|assist|do for)( you)?|anything else (that )?(i|we|you)\b",
    r"(wie|womit|wobei) (kann|können|darf|dürfen) (ich|wir) (\w+ ){0,2}(helfen|behilflich)",
    r"kann ich (\w+ )?sonst noch|puis je (vous |t'|faire )?(\w+ )?(aider|autre)|autre chose pour (vous|toi)",
    r"(puedo|podemos) ayudar|(posso|possiamo) (\w+ )?(aiutar|ajud)|(waarmee|hoe) (kan|kunnen) (ik|wij?) (\w+ )?helpen",
    r"was (kann|darf) ich (\w+ )?für (sie|dich) tun|(hur|hvordan|hva|hvad|vad) kan (jag|jeg|vi) (\w+ )?hj(ä|æ|e)lp",
    r"w czym (mogę|możemy) (\w+ )?pomóc|(mohu|můžu) (\w+ )?pomoci",
    r"ч(ем|им) (\w+ )?(могу|можем|можу) (\w+ )?(помочь|допомогти)",
    r"nasıl yardımcı olabilir|cu ce (\w+ )?pot ajuta|miben segíthet|(miten|kuinka) voin (auttaa|olla avuksi)|βοηθήσω$",
    r"kaise (madad|help) kar sakt|कैसे (मदद|सहायता) कर सकत|كيف (يمكنني|أستطيع|يمكننا) (مساعدت|خدمت)|(איך|במה) .*לעזור",
    r"ご用件|お手伝いできる|有(什么|什麼).*(帮|幫)(您|你|助|到)|(무엇을|어떻게) 도와|มีอะไรให้.*(ช่วย|รับใช้)",
    r"ada yang bisa .*bantu|có thể giúp gì",
    r"^(hi|hello|hey|welcome|good (morning|afternoon|evening)|hallo|gute[nr]? (tag|morgen|abend)|willkommen|moin|servus"
    r"|bonjour|salut|bienvenue|hola|buen[oa]s (días|tardes|noches)|ciao|buongiorno|olá|oi|bom dia|boa (tarde|noite)"
    r"|hej|hei|cześć|dzień dobry|dobrý den|привет|здравствуйте|добрый день|вітаю|merhaba|halo|xin chào"
    r"|namaste|नमस्ते|مرحبا|أهلا|שלום)( \w+){0,4}$",
    r"^(こんにちは|いらっしゃいませ|您好|你好|안녕하세요|สวัสดี(ค่ะ|ครับ)?)$",
)
_HAND_OVERS: Final = (
    r"\b(connect|transferr?|forward|redirect|put|hand|pass)(ing)? (you|your \w+|it) (\w+ ){0,3}(to|with|through)\b",
    r"(agent|colleague|advisor|representative) will (\w+ )?(be with|contact|take over|join|help|reply|answer)",
    r"(one|just a|a) (moment|second|minute)\b|^please (wait|hold|choose|select|pick)",
    r"\b(verbinde|leite|übergebe)\b.*\b(kolleg|mitarbeit|berater|team|weiter)|(einen|kleinen) (\w+ )?moment\b",
    r"^bitte (warte|wähle)|\b(transf[eè]re|redirige|mets) .*\b(agent|conseill|collègue|relation)|^(veuillez )?choisi",
    r"\b(un instant|un momento|um momento|een moment)\b|\b(transfiero|paso|comunico|conecto) (con|a) ",
    r"\b(trasferisco|metto in contatto|transferir|encaminhar)\b|\bverbind (u|je) (\w+ )?door\b",
    r"^(elija|elige|selecciona)|(соединяю|перевожу) (\w+ )?(с|на) (оператор|специалист)|temsilci\w* (bağl|aktar)"
    r"|(agent|team) se connect|(オペレーター|担当者?)にお?(つな|繋)|(转接|轉接).*(人工|客服)|상담[원사].*연결",
)
_OPENING: Final = re.compile(unicodedata.normalize("NFC", "|".join((*_OPENINGS, *_HAND_OVERS))), re.IGNORECASE)
_LONGEST_OPENING: Final = 200
"""Maximum number of characters of an opening."""

_SENTENCE_END: Final = re.compile(r"[.!?…\n]+(?:\s|$)|[。！？।]+")
_BUTTON: Final = re.compile(r"\[[^\]]*\]")


def is_apology(answer: str) -> bool:
    """Return whether a short answer states that the question was not understood, or has no answer."""
    if len(answer) > _LONGEST_APOLOGY:
        return False
    line = unicodedata.normalize("NFC", on_one_line(answer)).replace("’", "'")
    return _APOLOGY.search(line) is not None


def is_acknowledgement(answer: str) -> bool:
    """Return whether an answer has no other words than those of a confirmation, or is a picture such as a thumb up."""
    line = unicodedata.normalize("NFC", answer[: _LONGEST + 1]).replace("’", "'")
    words = " ".join(_NO_WORD.sub(" ", line).split())
    only_pictures = not words and any(unicodedata.category(character) == "So" for character in line)
    return len(line) <= _LONGEST and (only_pictures or _ACKNOWLEDGEMENT.fullmatch(words) is not None)


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
