"""Somebody takes back, in their settings, what they let the App do."""

from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import ConsentRevoked
from tests.unit.github.samples import ANN, read_json, reason_of

EVENT = "github_app_authorization"


def test_who_took_their_consent_back_is_told() -> None:
    payload = {"action": "revoked", "sender": ANN}
    person = Actor(service="github", login=ANN["login"], external_id=str(ANN["id"]))
    assert read_json(EVENT, payload) == ConsentRevoked(person=person)


def test_no_other_news_of_it_is_read() -> None:
    assert reason_of(EVENT, {"action": "given", "sender": ANN}) == "action-not-read"
