"""Each service proves its deliveries in its own way, and no other way counts."""

import json
from pathlib import Path

import httpx
import pytest

from patchwright.core.webhook import WEBHOOK_ROUTE
from tests.flow.office import JIRA_SECRET, in_office
from tests.flow.story import WEBHOOK_SECRET

# What GitLab sends: its secret as it is, and no signature.
# https://docs.gitlab.com/user/project/integrations/webhooks/
NOTE = {
    "object_kind": "note",
    "user": {"id": 1, "username": "alice"},
    "object_attributes": {"id": 7, "note": "@patchwright fix it", "action": "create"},
    "project": {"path_with_namespace": "acme/shop"},
}
SECRETS = {"github": WEBHOOK_SECRET, "jira": JIRA_SECRET}


@pytest.mark.parametrize(
    ("service", "status"),
    [("github", 401), ("slack", 401), ("jira", 401), ("gitlab", 404)],
)
def test_s17_a_token_in_place_of_a_signature_is_refused(
    service: str, status: int, tmp_path: Path
) -> None:
    with in_office(tmp_path, []) as office:
        known = SECRETS.get(service, office.slack.fake.app.signing_secret)
        answer = httpx.post(
            office.story.url + WEBHOOK_ROUTE.format(service=service),
            content=json.dumps(NOTE),
            headers={
                "content-type": "application/json",
                "x-gitlab-event": "Note Hook",
                "x-gitlab-token": known,
            },
        )
        assert answer.status_code == status
        office.story.work()
        assert office.story.jobs() == []
