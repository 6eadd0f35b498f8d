"""Labels, status, links and mail: what can be shown beside a ticket's comments."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.text.escape import mention_link
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.people import Actor
from tests.adapters.jira.conftest import Scene

PULL = "https://github.example/acme/shop/pull/5"


def test_labels_are_swapped_at_once(scene: Scene) -> None:
    scene.fake.label(scene.key, scene.ann, "patchwright")
    swap = (("patchwright:running",), ("patchwright", "patchwright:done"))
    scene.channel.swap_labels(scene.ref, *swap)
    scene.channel.swap_labels(scene.ref, *swap)
    issue = scene.fake.issue(scene.key)
    assert issue.labels == ["patchwright:running"]
    assert len(issue.histories) == 2


def test_nothing_to_swap_is_no_request(scene: Scene) -> None:
    before = len(scene.fake.requests)
    scene.channel.swap_labels(scene.ref, (), ())
    assert len(scene.fake.requests) == before


def test_label_that_jira_refuses_is_told(scene: Scene) -> None:
    with pytest.raises(InvalidRequestError, match=r"labels: .*contains spaces"):
        scene.channel.swap_labels(scene.ref, ("in work",), ())


def test_link_replaces_the_earlier_one_of_its_key(scene: Scene) -> None:
    scene.channel.attach_link(scene.ref, PULL, "#5 Fix the sum", "pw-7f3a")
    scene.channel.attach_link(scene.ref, PULL, "#5 Fix the sum (draft)", "pw-7f3a")
    (link,) = scene.fake.remote_links(scene.key)
    assert (link.url, link.title) == (PULL, "#5 Fix the sum (draft)")


def test_links_of_other_keys_stay(scene: Scene) -> None:
    scene.channel.attach_link(scene.ref, PULL, "#5", "pw-1")
    scene.channel.attach_link(scene.ref, PULL, "x" * 300, "pw-2")
    links = scene.fake.remote_links(scene.key)
    assert [link.global_id for link in links] == ["pw-1", "pw-2"]


def test_ticket_is_brought_to_a_status_by_its_name(scene: Scene) -> None:
    scene.channel.move(scene.ref, "in progress")
    scene.channel.move(scene.ref, "In Progress")
    issue = scene.fake.issue(scene.key)
    assert issue.status == "In Progress"
    assert len(issue.histories) == 1


def test_way_may_be_called_by_its_own_name(scene: Scene) -> None:
    scene.channel.move(scene.ref, "Close")
    assert scene.fake.issue(scene.key).status == "Done"


def test_where_no_way_leads_the_ways_are_named(scene: Scene) -> None:
    with pytest.raises(InvalidRequestError, match="only to: Done, In Progress"):
        scene.channel.move(scene.ref, "In Review")


def test_way_that_wants_more_is_not_taken(scene: Scene) -> None:
    scene.fake.add_way("Resolve", "Resolved", required=("resolution",))
    with pytest.raises(InvalidRequestError, match="Resolution"):
        scene.channel.move(scene.ref, "Resolved")
    scene.fake.add_way("Drop", "Resolved")
    scene.channel.move(scene.ref, "Resolved")
    assert scene.fake.issue(scene.key).status == "Resolved"


def test_private_words_go_by_mail_to_one_person(scene: Scene) -> None:
    link = "https://pw.example/link/s3cret"
    text = f"{mention_link('Ann', scene.ann)} [link your account]({link})"
    scene.channel.tell_privately(scene.ref, scene.actor, text)
    (mail,) = scene.fake.mails
    assert mail.to == scene.ann
    assert link in mail.text
    assert f'href="{link}"' in mail.html
    assert "patchwright-call" not in mail.text + mail.html
    (comment,) = scene.fake.comments(scene.key)
    assert "s3cret" not in comment.body.wiki
    assert scene.fake.mention(scene.ann) in comment.body.wiki


def test_what_is_offered_privately_is_in_the_mail(scene: Scene) -> None:
    offer = Offer(words="Link", url="https://pw.example/link/s3cret")
    scene.channel.tell_privately(scene.ref, scene.actor, "Link first.", (offer,))
    assert "https://pw.example/link/s3cret" in scene.fake.mails[0].text


def test_site_without_mail_tells_nothing_in_public(scene: Scene) -> None:
    scene.fake.stop_mail()
    with pytest.raises(InvalidRequestError, match="Outgoing emails are disabled"):
        scene.channel.tell_privately(scene.ref, scene.actor, "Secret")
    assert scene.fake.comments(scene.key) == []


def test_person_without_an_id_gets_no_mail(scene: Scene) -> None:
    nobody = Actor(service="jira", login="Former user")
    with pytest.raises(InvalidRequestError):
        scene.channel.tell_privately(scene.ref, nobody, "Secret")
    assert scene.fake.mails == []


def test_a_field_that_a_refused_way_wants_is_called_by_its_name(scene: Scene) -> None:
    cause = scene.fake.add_field("Root cause")
    scene.fake.add_way("Ship", "Shipped", checked=(cause,))
    with pytest.raises(InvalidRequestError, match="Root cause: A value is required"):
        scene.channel.move(scene.ref, "Shipped")
