"""Negation in other languages than English."""

from unittest.mock import Mock

import pytest

from model.guards.negation import negation_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Was darf ich im Handgepäck nicht mitnehmen?", "Was darf ich im Handgepäck mitnehmen?"),
        ("Kann ich ohne Karte zahlen?", "Kann ich mit Karte zahlen?"),
        ("Ist Parken hier verboten?", "Ist Parken hier erlaubt?"),
        ("Wie schalte ich das Licht an?", "Wie schalte ich das Licht aus?"),
        ("Meine Ware ist nicht angekommen, was nun?", "Meine Ware ist angekommen, was nun?"),
        ("Welke kosten krijg ik niet terug?", "Welke kosten krijg ik terug?"),
        ("¿Por qué no funciona mi tarjeta?", "¿Por qué funciona mi tarjeta?"),
        ("como desactivo el contestador", "¿Cómo activo el contestador?"),
        ("Pourquoi je ne reçois plus de courrier ?", "Pourquoi je reçois du courrier ?"),
        ("Quels jours le musée n'est pas ouvert ?", "Quels jours le musée est ouvert ?"),
        ("Cosa succede se non pago la multa?", "Cosa succede se pago la multa?"),
        ("Quem não precisa de visto?", "Quem precisa de visto?"),
        ("Jakich rzeczy nie wolno przewozić?", "Jakie rzeczy wolno przewozić?"),
        ("Что делать, если посылка не пришла?", "Что делать, если посылка пришла?"),
        ("Можно ли вернуть товар без чека?", "Можно ли вернуть товар с чеком?"),
        ("desinstalar app", "instalar app"),
        ("Jak się wylogować?", "Jak się zalogować?"),
        ("Как распаковать архив?", "Как паковать архив?"),
        ("Comment débrancher la box ?", "Comment brancher la box ?"),
        ("Cosa è sconsigliato mangiare?", "Cosa è consigliato mangiare?"),
        ("¿Es ilegal grabar?", "¿Es legal grabar?"),
        ("Meine Karte funktioniert nicht", "Wie funktioniert meine Karte?"),
        ("Wo kann ich nicht parken?", "Wo kann ich parken?"),
        ("Ich kann nicht mit Karte zahlen, wie kann ich zahlen?", "Wie kann ich mit Karte zahlen?"),
        ("Ik wil de krant niet meer ontvangen", "Ik wil de krant ontvangen"),
        ("No tengo tarjeta, ¿cómo pago?", "Tengo tarjeta, ¿cómo pago?"),
        ("Wann öffnet das Freibad?", "Wann schließt das Freibad?"),
        ("Welche Pilze sind auf keinen Fall essbar?", "Welche Pilze sind essbar?"),
        ("hoe schakel ik in de app meldingen uit", "hoe schakel ik in de app meldingen in"),
        ("¿Tomo la pastilla antes de comer?", "¿Tomo la pastilla después de comer?"),
        ("Comment verrouiller mon téléphone ?", "Comment déverrouiller mon téléphone ?"),
        ("Qual è l'importo minimo?", "Qual è l'importo massimo?"),
        ("Como aumento o limite?", "Como diminuo o limite?"),
        ("Onde posso comprar livros?", "Onde posso vender livros?"),
        ("Nie mam meldunku w Krakowie. Gdzie mogę głosować?", "Mam meldunek w Krakowie. Gdzie mogę głosować?"),
        ("Когда прибывает поезд?", "Когда отправляется поезд?"),
        ("В каких случаях банк не возвращает деньги?", "В каких случаях банк возвращает деньги?"),
        ("¿Quién puede entrar solo con cita?", "¿Quién puede entrar sin cita?"),
        ("Wer darf nur bar zahlen?", "Wer darf nicht bar zahlen?"),
        ("Wissen Sie, wann der Schalter nicht besetzt ist?", "Wissen Sie, wann der Schalter besetzt ist?"),
        ("Ich komme nicht zum Termin", "Wie komme ich zum Termin?"),
        ("Je ne sais pas nager, puis-je venir ?", "Je sais nager, puis-je venir ?"),
        ("Savez-vous pourquoi la carte ne marche pas ?", "Savez-vous pourquoi la carte marche ?"),
    ],
)
def test_a_denial_of_the_same_words_is_another_question(one, two):
    assert negation_differs(Reading(one), Reading(two))
    assert negation_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Kann ich nicht mit Karte zahlen?", "Kann ich mit Karte zahlen?"),
        ("Was nun? Kann ich nicht mit Karte zahlen?", "Was nun? Kann ich mit Karte zahlen?"),
        ("Ist Parken hier nicht erlaubt?", "Ist Parken hier verboten?"),
        ("Gilt das auch sonntags oder nicht?", "Gilt das auch sonntags?"),
        ("Könnten Sie mir nicht sagen, wann Sie öffnen?", "Können Sie mir sagen, wann Sie öffnen?"),
        ("Die Karte geht nicht", "Die Karte streikt"),
        ("¿No podría enviarme la factura?", "¿Podría enviarme la factura?"),
        ("Abren el domingo, ¿no?", "¿Abren el domingo?"),
        ("Vous livrez le samedi, n'est-ce pas ?", "Vous livrez le samedi ?"),
        ("Je peux pas entrer, que faire ?", "Je ne peux pas entrer, que faire ?"),
        ("est ce que je peux pas payer par carte", "est ce que je peux payer par carte"),
        ("Devo aspettare finché non arriva?", "Devo aspettare finché arriva?"),
        ("Non è che siete aperti domenica?", "Siete aperti domenica?"),
        ("Não tem como cancelar o pedido?", "Tem como cancelar o pedido?"),
        ("Ma carte marche plus", "Ma carte ne marche plus"),
        ("Je reçois plus vos mails", "Je ne reçois plus vos mails"),
        ("Por que não marcar a consulta pela internet, dá?", "Dá para marcar a consulta pela internet?"),
        ("Czy nie powinnam iść do lekarza?", "Czy powinnam iść do lekarza?"),
        ("Не нужно ли взять справку?", "Нужно ли взять справку?"),
        ("Страховка покрывает не только лечение?", "Страховка покрывает лечение?"),
        ("¿A qué hora cierran?", "¿Hasta qué hora abren?"),
        ("A loja abre no feriado, não abre?", "A loja abre no feriado?"),
        ("Será que não dá para trocar?", "Dá para trocar?"),
        ("Est-ce que le Rhône est plus court que la Loire ?", "Est-ce que la Loire est plus longue que le Rhône ?"),
    ],
)
def test_polite_requests_tags_and_yes_no_questions_are_no_difference(one, two):
    assert not negation_differs(Reading(one), Reading(two))
    assert not negation_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Wäre es nicht möglich, den Termin zu verschieben?", "Wäre es möglich, den Termin zu verschieben?"),
        ("Sehe ich das nicht richtig, dass die Miete steigt?", "Sehe ich das richtig, dass die Miete steigt?"),
        ("Ich wollte fragen, ob Sie nicht samstags liefern", "Ich wollte fragen, ob Sie samstags liefern"),
        ("Weet je niet toevallig waar de automaat is?", "Weet je toevallig waar de automaat is?"),
        ("¿No sabrá usted dónde queda correos?", "¿Sabrá usted dónde queda correos?"),
        ("Quería saber si no tienen tallas grandes", "Quería saber si tienen tallas grandes"),
        ("Tu ne sais pas si la poste est ouverte ?", "Tu sais si la poste est ouverte ?"),
        ("Ne trouvez-vous pas que la facture est élevée ?", "Trouvez-vous que la facture est élevée ?"),
        ("Non potrebbe dirmi quanto costa?", "Potrebbe dirmi quanto costa?"),
        ("Buongiorno, non ci sarebbe uno sconto?", "Buongiorno, ci sarebbe uno sconto?"),
        ("Não é verdade que tenho 7 dias?", "É verdade que tenho 7 dias?"),
        ("Nie wie pan, gdzie jest poczta?", "Wie pan, gdzie jest poczta?"),
        ("Не знаете, где тут почта?", "Знаете, где тут почта?"),
        ("Сколько ждать, пока заказ не придёт?", "Сколько ждать, пока заказ придёт?"),
    ],
)
def test_a_polite_question_whether_it_is_so_is_no_difference(one, two):
    assert not negation_differs(Reading(one), Reading(two))
    assert not negation_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("¿Solo se puede pagar en efectivo?", "¿No se puede pagar más que en efectivo?"),
        ("¿Atienden solo con cita?", "¿No atienden sin cita?"),
        ("Só recebem com agendamento?", "Não recebem sem agendamento?"),
        ("Lo sportello non apre che di mattina?", "Lo sportello apre solo di mattina?"),
        ("Ist die Behandlung nicht ohne Termin möglich?", "Ist die Behandlung nur mit Termin möglich?"),
    ],
)
def test_only_is_not_without_and_nothing_but(one, two):
    assert not negation_differs(Reading(one), Reading(two))
    assert not negation_differs(Reading(two), Reading(one))


def test_a_denied_clause_without_words_of_its_own_is_no_difference():
    complaint, request = (
        Reading("Ich will den Vertrag kündigen, aber kann nicht"),
        Reading("Ich will den Vertrag kündigen"),
    )
    assert not negation_differs(complaint, request)
    assert not negation_differs(request, complaint)
    other = Reading("Ich will den Vertrag ohne Gebühr kündigen, aber kann nicht")
    assert not negation_differs(other, request)


@pytest.mark.parametrize(
    ("complaint", "question"),
    [
        ("Ich kann mich nicht anmelden", "Wie kann ich mich anmelden?"),
        ("Die Rechnung ist nicht da, wo finde ich sie?", "Wo finde ich die Rechnung?"),
        ("Mijn pakket is nog niet binnen, waar is het?", "Waar is mijn pakket?"),
        ("Meu pedido ainda não chegou, onde está?", "Onde está meu pedido?"),
        ("Ich komme nicht ins Online-Banking", "Wie komme ich ins Online-Banking?"),
        ("Ik kan mijn factuur niet vinden", "Waar kan ik mijn factuur vinden?"),
        ("Ik wil mijn bestelling toch niet, hoe kan ik annuleren?", "Kan ik mijn bestelling nog annuleren?"),
        ("No puedo entrar en mi cuenta, ¿qué hago?", "¿Cómo puedo entrar en mi cuenta?"),
        ("Ya no quiero la suscripción, ¿cómo la cancelo?", "¿Cómo cancelo la suscripción?"),
        ("Je ne peux pas me connecter", "Comment puis-je me connecter ?"),
        ("Je ne veux plus mon abonnement, comment le résilier ?", "Comment résilier mon abonnement ?"),
        ("Non posso accedere al mio conto, come faccio?", "Come faccio ad accedere al mio conto?"),
        ("Non voglio più l'abbonamento, come lo disdico?", "Come disdico l'abbonamento?"),
        ("Não consigo acessar minha conta", "Como acessar minha conta?"),
        ("Não quero mais a assinatura, como cancelo?", "Como cancelo a assinatura?"),
        ("Nie mogę znaleźć faktury", "Gdzie mogę znaleźć fakturę?"),
        ("Не могу войти в аккаунт, что делать?", "Как мне войти в аккаунт?"),
    ],
)
def test_a_complaint_gets_the_answer_to_how_and_where(complaint, question):
    assert not negation_differs(Reading(complaint), Reading(question))
    assert not negation_differs(Reading(question), Reading(complaint))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Как распечатать билет?", "Как печатать билет?"),
        ("Где отремонтировать телефон?", "Где ремонтировать телефон?"),
        ("Jak wydrukować bilet?", "Jak drukować bilet?"),
        ("Jak wymienić towar?", "Jak zamienić towar?"),
        ("Comment déposer un congé ?", "Comment poser un congé ?"),
        ("Posso cambiare la taglia?", "Posso scambiare la taglia?"),
        ("Welche Unkosten entstehen?", "Welche Kosten entstehen?"),
        ("Worden de onkosten vergoed?", "Worden de kosten vergoed?"),
    ],
)
def test_a_prefix_that_makes_no_opposite_is_no_difference(one, two):
    assert not negation_differs(Reading(one), Reading(two))
    assert not negation_differs(Reading(two), Reading(one))


def test_long_texts_with_other_words_are_not_compared_word_by_word(monkeypatch):
    compared = Mock(return_value=False)
    monkeypatch.setattr("model.guards.languages.negation._has_opposite", compared)
    one, two = (" ".join(f"{letter}{number}" for number in range(99)) for letter in "ab")
    assert not negation_differs(Reading(f"Wie kann ich nicht {one}"), Reading(f"Wie kann ich {two}"))
    compared.assert_not_called()


@pytest.mark.parametrize(
    ("complaint", "question"),
    [
        ("Mein Paket kommt nicht", "Wann kommt mein Paket?"),
        ("Mijn geld is niet teruggestort", "Wanneer wordt mijn geld teruggestort?"),
        ("El pedido no llega", "¿Cuándo llega el pedido?"),
        ("Ma commande n'est pas livrée", "Quand est livrée ma commande ?"),
        ("Il pacco non arriva", "Quando arriva il pacco?"),
        ("O pedido não chegou", "Quando chega o pedido?"),
        ("Paczka nie przychodzi", "Kiedy przychodzi paczka?"),
        ("Посылка не приходит", "Когда приходит посылка?"),
    ],
)
def test_a_complaint_gets_the_answer_to_when(complaint, question):
    assert not negation_differs(Reading(complaint), Reading(question))
    assert not negation_differs(Reading(question), Reading(complaint))


@pytest.mark.parametrize(
    ("without", "needed"),
    [
        ("Kann ich ohne Ausweis reisen?", "Brauche ich zum Reisen einen Ausweis?"),
        ("Kan ik zonder reservering naar binnen?", "Heb ik een reservering nodig om naar binnen te gaan?"),
        ("Puis-je entrer sans réservation ?", "Faut-il une réservation pour entrer ?"),
        ("Posso entrar sem reserva?", "Preciso de reserva para entrar?"),
        ("Можно ли войти без брони?", "Нужна ли бронь, чтобы войти?"),
    ],
)
def test_a_question_whether_a_thing_is_needed_is_one_whether_it_goes_without(without, needed):
    assert not negation_differs(Reading(without), Reading(needed))
    assert not negation_differs(Reading(needed), Reading(without))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Wann kommt das Paket nicht an?", "Wann kommt das Paket an?"),
        ("Warum kommt mein Paket nicht?", "Wann kommt mein Paket?"),
        ("Brauche ich einen Ausweis mit Foto?", "Brauche ich einen Ausweis ohne Foto?"),
        ("¿Necesito factura para devolver?", "¿No necesito factura para devolver, por qué?"),
    ],
)
def test_when_and_need_beside_other_denials_are_another_question(one, two):
    assert negation_differs(Reading(one), Reading(two))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("не мога да платя с карта", "как мога да платя с карта"),
        ("чи не можна повернути товар", "чи можна повернути товар"),
        ("ці можна плаціць карткай", "можна плаціць карткай ці не"),
        ("no podria pagar amb targeta", "podria pagar amb targeta?"),
        ("non se pode pagar con tarxeta", "pódese pagar con tarxeta?"),
        ("non poso entrar", "come poso entrar"),
        ("que no es pot pagar amb targeta?", "es pot pagar amb targeta?"),
    ],
)
def test_neighbors_of_a_language_are_read_by_no_rule(one, two):
    assert not negation_differs(Reading(one), Reading(two))
    assert not negation_differs(Reading(two), Reading(one))
