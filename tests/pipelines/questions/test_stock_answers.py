import unicodedata

import pytest

from pipelines.questions.stock_answers import is_acknowledgement, is_apology, is_opening, is_placeholder


@pytest.mark.parametrize(
    "answer",
    [
        "Okay.",
        " OK!",
        "Sure thing 👍",
        "Okay, got it.",
        "Alles klar, mach ich.",
        "D’accord.",
        "C'est noté !",
        "¡Listo!",
        "Va bene",
        "Está bem.",
        "Komt voor elkaar!",
        "Хорошо, сделано.",
        "Tamam.",
        "ठीक है।",
        "โอเค",
        "好的。",
        "かしこまりました。",
        unicodedata.normalize("NFD", "알겠습니다."),
        "👍",
        "✅ ✅",
        "Beleza!",
        "Theek hai.",
        "Wird erledigt!",
    ],
)
def test_an_answer_of_confirmations_alone_is_one(answer):
    assert is_acknowledgement(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "...",
        "Yes.",
        "No",
        "Okay, the kitchen lights are on.",
        "Oklahoma",
        "Done by Friday",
        "Bien sûr que non",
        "ठीक",
        "You're welcome.",
        "12",
        "ok " * 30,
    ],
)
def test_an_answer_with_other_words_is_none(answer):
    assert not is_acknowledgement(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "NULL",
        "n/a",
        " N/A. ",
        "None",
        "nan",
        "-",
        "--",
        "…",
        "[]",
        "(empty)",
        "?",
        "#N/A",
        "<null>",
        "K.A.",
        "[deleted]",
        "[removed]",
        "\\N",
        "<br>",
        "<p></p>",
        "<p>&nbsp;</p>",
        "&nbsp;",
        "<p>N/A</p>",
    ],
)
def test_texts_in_place_of_a_missing_answer(answer):
    assert is_placeholder(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "0",
        "No",
        "+",
        "👍",
        "✓",
        "None of them",
        "Nan Goldin",
        "Deleted.",
        "removed",
        "<p>No</p>",
        "N",
        "$",
        "-5",
        "x" * 70,
    ],
)
def test_short_answers_that_are_no_placeholder(answer):
    assert not is_placeholder(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Hi! How can I help you?",
        "Good morning! How can I help?",
        "Guten Tag, was kann ich für Sie tun?",
        "¡Hola, buenas tardes! ¿En qué puedo ayudarte?",
        "Hej! Hur kan jag hjälpa dig?",
        "Dzień dobry, w czym mogę pomóc?",
        "Здравствуйте! Чем я могу вам помочь?",
        "Перевожу вас на оператора.",
        "Merhaba, size nasıl yardımcı olabilirim?",
        "Namaste! Main aapki kaise madad kar sakta hoon?",
        "नमस्ते! मैं आपकी कैसे मदद कर सकता हूँ?",
        "こんにちは！ご用件は何でしょうか？",
        "オペレーターにおつなぎします。",
        "您好，请问有什么可以帮您？",
        "正在为您转接人工客服",
        "안녕하세요! 무엇을 도와드릴까요?",
        "مرحبا، كيف يمكنني مساعدتك؟",
        "Halo, ada yang bisa saya bantu?",
        "สวัสดีค่ะ มีอะไรให้ช่วยไหมคะ",
        "Hello Anna, what can I do for you today?",
        "Is there anything else I can do for you?",
        "I will connect you with a colleague.",
        "Please hold on. I'm transferring you to an agent.",
        "One moment please...",
        "Please choose: [Returns] [Delivery]",
        "Hallo! Wie kann ich Ihnen helfen?",
        "Kann ich sonst noch etwas für dich tun?",
        "Einen Moment bitte, ich verbinde Sie mit einem Kollegen.",
        "Bonjour, comment puis-je vous aider ?",
        "Je vous transfère à un conseiller.",
        "¡Hola! ¿En qué puedo ayudarte?",
        unicodedata.normalize("NFD", "Olá! Como posso ajudar?"),
        "Hoe kan ik je helpen?",
    ],
)
def test_greetings_offers_and_hand_overs_are_openings(answer):
    assert is_opening(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "👍",
        "",
        "We are open from 9 to 7. Is there anything else I can do for you?",
        "Hi Anna, your parcel takes 2 to 4 working days to arrive.",
        "Refunds arrive 5 to 7 working days after we have received your parcel.",
        "Press Forgotten password on the login page.",
        "How can I help you? " * 20,
    ],
)
def test_answers_with_other_sentences_are_no_openings(answer):
    assert not is_opening(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Sorry, I don’t know that one.",
        "I cannot help with that.",
        "Sorry, I'm not sure how to help with that.",
        "Hmm, I don't have an answer for that.",
        "I'm sorry, I don't have information about that.",
        "I am unable to help with that.",
        "I cannot find an answer to your question.",
        "I couldn't find anything about that.",
        "No results found.",
        "Please rephrase your question.",
        "Dazu habe ich leider keine Informationen.",
        "Leider konnte ich dazu nichts finden.",
        "Bitte formulieren Sie Ihre Frage anders.",
        "Dabei kann ich Ihnen leider nicht weiterhelfen.",
        "Désolé, je n'ai pas trouvé de réponse.",
        "Pouvez-vous reformuler ?",
        "No tengo información sobre eso.",
        "No puedo ayudarte con eso.",
        "¿Puedes reformular tu pregunta?",
        "Não consegui entender.",
        "Não tenho essa informação.",
        "Non ho trovato risposte.",
        "Daar heb ik helaas geen antwoord op.",
        "Niestety nie znam odpowiedzi.",
        "К сожалению, у меня нет ответа.",
        "Bu konuda bilgim yok.",
        "Sorry, samajh nahin aaya.",
        "मुझे इसका जवाब नहीं पता।",
        "申し訳ありませんが、お答えできません。",
        "很抱歉，没有找到相关答案。",
        "답변을 찾을 수 없습니다.",
        "آسف، لا أستطيع المساعدة.",
        "Sorry, I'm having trouble understanding right now.",
        "Entschuldigung, das habe ich nicht verstanden.",
        "Das weiß ich leider nicht.",
        "Désolé, je n'ai pas compris.",
        "Lo siento, no te entiendo",
        "Lo siento, no te he entendido.",
        "Üzgünüm, anlayamadım.",
        "Przepraszam, nie zrozumiałam pytania.",
        "Вибачте, я не зрозумів.",
        "Не удалось понять ваш вопрос",
        "Jag förstår tyvärr inte.",
        "Συγγνώμη, δεν κατάλαβα.",
        "عذرًا، لم أفهم سؤالك.",
        "متأسفم، متوجه نشدم.",
        "סליחה, לא הבנתי.",
        "माफ़ कीजिए, मैं समझा नहीं।",
        "দুঃখিত, আমি বুঝতে পারিনি।",
        "மன்னிக்கவும், எனக்கு புரியவில்லை.",
        "ขออภัย ไม่เข้าใจคำถาม",
        "Xin lỗi, tôi không hiểu.",
        "我不太明白您的意思",
        unicodedata.normalize("NFD", "죄송합니다. 이해하지 못했습니다."),
        "Извините, я не понимаю вопрос",
        "抱歉，我听不懂",
        "申し訳ありません。分かりません。",
    ],
)
def test_an_apology_is_recognised_in_several_languages(answer):
    assert is_apology(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Canberra",
        "You cannot return worn clothes.",
        "Das Paket ist nicht da.",
        "Know-how",
        "If you do not have the information at hand, call us.",
        "If no results are found, check the spelling.",
        "Wir geben leider keine Informationen an Dritte weiter.",
        "Si vous n'avez pas trouvé de réponse, appelez le 3900.",
        "Если нет ответа в течение 3 дней, позвоните нам.",
        "Kreeg u geen antwoord op uw mail? Bel ons.",
        "如果没有找到包裹，请联系客服。",
        "답변을 찾을 수 없는 경우 전화하세요.",
        "หากท่านไม่เข้าใจ โปรดอ่านคู่มือ",
        "Jika Anda tidak mengerti, baca panduan.",
        "अगर आपको समझ नहीं आए तो फ़ोन करें",
        "I do not know. " + "x" * 186,  # one character too long
    ],
)
def test_other_answers_are_no_apology(answer):
    assert not is_apology(answer)
