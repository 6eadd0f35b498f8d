"""Who asks in Jira shows once, in private, who they are where the code lives."""

import json
from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from tests.flow.office import in_office, link_in
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.tickets import ask, calling, calls, replies, reply, say

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
NOTICE = "I emailed you a private message."


@both
def test_a5_a_stranger_gets_a_link_by_mail_and_then_their_pull_request(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(
        tmp_path, in_turn(*fix_turns()), cloud=cloud, mapped=False
    ) as office:
        fake, ann = office.jira.fake, office.jira.ann
        key = ask(office)
        [mail] = fake.mails
        assert mail.to == ann
        assert link_in(mail).startswith(f"{office.story.url}/link/")
        [told] = replies(office, key)
        assert told == f"{fake.mention(ann)} {NOTICE}"
        assert link_in(mail) not in json.dumps([one.path for one in fake.requests])
        assert office.story.jobs()[0].state is JobState.WAITING_USER
        assert office.link(mail).status_code == 200
        office.story.work()
        assert replies(office, key)[1].startswith("*Done, proven* · [pull request #1|")
        assert len(calls(office, key)) == 1
        say(office, key, calling(office, "status"))
        assert len(fake.mails) == 1
        replies(office, key)
        [pull] = office.story.github.pull_requests(REPO)
        assert pull.title == "APP-1: Count every piece"


def test_a5_who_may_only_read_is_refused_after_linking(tmp_path: Path) -> None:
    with in_office(tmp_path, [], mapped=False) as office:
        office.story.github.grant(REPO, "eve", "read")
        key = ask(office)
        office.link(office.jira.fake.mails[0], login="eve")
        office.story.work()
        _, refused = replies(office, key)
        assert refused.startswith("*Declined*")
        assert office.story.provider.requests == []
        assert office.story.branches() == []


def test_s74_a_person_who_may_not_read_is_asked_for_another_repository(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, [], mapped=False) as office:
        key = ask(office)
        office.link(office.jira.fake.mails[0], login="eve")
        office.story.work()
        _, asked = replies(office, key)
        assert asked.startswith("*Needs you*")
        assert "it is not open to both you and this bot" in asked
        assert office.story.provider.requests == []


def test_a5_where_no_mail_can_be_sent_that_is_said_and_no_secret(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, [], mapped=False) as office:
        jira = office.jira
        jira.fake.stop_mail()
        key = ask(office)
        office.story.work_later(3600)
        assert reply(office, key) == (
            f"{jira.fake.mention(jira.ann)} I have a private question for you, but I "
            "cannot send you a private message. Ask whoever runs this Patchwright to "
            "allow that, or to link your account. Then ask again."
        )


def test_a3_accounts_map_needs_no_browser(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        key = ask(office)
        assert office.jira.fake.mails == []
        assert "requested by Ann Lee" in reply(office, key)
        calls(office, key)
