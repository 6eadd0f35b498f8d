"""REST: an App that was made from a manifest is handed over."""

from tests.fakes.github.acts.registrations import claim
from tests.fakes.github.call import Call, Route
from tests.fakes.github.exchange import Answer
from tests.fakes.github.render.apps import app_json


def convert(call: Call) -> Answer:
    claimed = claim(call.world, call.args["code"])
    body = {
        **app_json(call.world, claimed.app),
        "client_id": claimed.registration.client_id,
        "client_secret": claimed.registration.client_secret,
        "webhook_secret": claimed.app.webhook_secret,
        "pem": claimed.private_key,
    }
    return Answer(status=201, body=body)


ROUTES = (Route("POST", "/app-manifests/{code}/conversions", convert),)
