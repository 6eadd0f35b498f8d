"""What does not concern us leaves no trace; what is not signed is not heard."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.jira.state import Delivery
from tests.fakes.jira.webhooks import deliver, signature
from tests.flow.office import JIRA_SECRET, PROJECT, Office, in_office
from tests.flow.tickets import TITLE, calling, open_ticket, tell

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])


def written(office: Office) -> list[str]:
    """Return what the service has asked Jira to change."""
    seen = office.jira.fake.requests
    return [one.path for one in seen if one.method != "GET"]


def asking(office: Office) -> Delivery:
    """Return the delivery of a comment that asks; it was not delivered yet."""
    key = open_ticket(office)
    office.jira.fake.comment(key, office.jira.ann, calling(office))
    return office.jira.fake.deliveries[-1]


def forged(delivery: Delivery, body: bytes, *, secret: str = JIRA_SECRET) -> Delivery:
    headers = {**delivery.headers, **signature(secret, body)}
    return replace(delivery, headers=headers, body=body)


@both
def test_s19_in_a_project_that_is_not_served_the_bot_does_nothing(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, [], cloud=cloud) as office:
        fake, ann = office.jira.fake, office.jira.ann
        fake.add_project("HR")
        key = fake.create("HR", ann, TITLE, calling(office))
        fake.comment(key, ann, calling(office))
        fake.label(key, ann, "patchwright")
        fake.assign(key, ann, fake.bot)
        tell(office)
        office.story.work()
        assert (office.story.jobs(), written(office)) == ([], [])


@both
def test_s19_ordinary_edits_have_no_effect(tmp_path: Path, *, cloud: bool) -> None:
    with in_office(tmp_path, [], cloud=cloud) as office:
        fake, ann = office.jira.fake, office.jira.ann
        key = fake.create(PROJECT, ann, TITLE, "Ask ann, not {{@patchwright}}.")
        fake.edit(key, ann, summary="Wrong total", description="It is off.")
        fake.comment(key, ann, "Me too.")
        fake.label(key, ann, "urgent")
        fake.assign(key, ann, office.jira.zoe)
        fake.transition(key, ann, "In Progress")
        fake.attach(key, ann, ("a.txt", "text/plain", b"a"))
        tell(office)
        office.story.work()
        assert (office.story.jobs(), written(office)) == ([], [])


def test_a_bot_that_nobody_named_is_not_answered(tmp_path: Path) -> None:
    with in_office(tmp_path, []) as office:
        fake = office.jira.fake
        robot = fake.add_user("robot", is_app=True)
        key = open_ticket(office)
        fake.comment(key, robot, calling(office))
        tell(office)
        office.story.work()
        assert (written(office), fake.mails) == ([], [])
        [job] = office.story.jobs()
        assert job.outcome is not None
        assert job.outcome.reason == "bot-not-named"


@both
def test_s18_only_the_signature_of_the_exact_bytes_counts(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, [], cloud=cloud) as office:
        found, url = asking(office), office.jira.url
        respaced = json.dumps(json.loads(found.body), indent=1).encode()
        unsigned = {key: one for key, one in found.headers.items() if key[-1] != "e"}
        for refused, where in (
            (forged(found, found.body, secret="another"), url),
            (replace(found, body=respaced), url),
            (replace(found, headers=unsigned), url),
            (replace(found, headers=unsigned), f"{url}?secret={JIRA_SECRET}"),
        ):
            assert deliver(refused, where).status == 401
        assert office.story.jobs() == []
        office.jira.carried = len(office.jira.fake.deliveries)
        assert deliver(forged(found, respaced), url).status == 202
        assert len(office.story.jobs()) == 1


@both
def test_s18_a_delivery_of_another_site_is_refused_although_it_is_signed(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, [], cloud=cloud) as office:
        found = asking(office)
        here = office.jira.fake.base_url.encode()
        body = found.body.replace(here, b"https://other.example.com")
        assert deliver(forged(found, body), office.jira.url).status == 403
        assert office.story.jobs() == []


def test_p1_a_delivery_that_comes_again_is_one_request(tmp_path: Path) -> None:
    with in_office(tmp_path, []) as office:
        found, url = asking(office), office.jira.url
        first = deliver(found, url).status
        again = deliver(found, url).status
        renamed = {**found.headers, "X-Atlassian-Webhook-Identifier": "another"}
        other = deliver(replace(found, headers=renamed), url).status
        assert (first, again, other) == (202, 200, 200)
        assert len(office.story.jobs()) == 1
