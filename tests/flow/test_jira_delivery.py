"""A pull request for a ticket: named by its key, linked there; the ticket moves."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady
from tests.flow.tickets import ask, calling, calls, outline, reply, say, tell

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])


def moving(**transitions: str) -> Mapping[str, str]:
    return {"PATCHWRIGHT_JIRA__TRANSITIONS": json.dumps(transitions)}


def been(office: Office, key: str) -> list[str | None]:
    """Return the statuses that a ticket was brought to, oldest first."""
    histories = office.jira.fake.issue(key).histories
    items = (item for one in histories for item in one.items)
    return [item.new_words for item in items if item.field == "status"]


@both
def test_c7_the_ticket_is_linked_and_moved_with_one_comment(
    tmp_path: Path, *, cloud: bool
) -> None:
    moves = moving(on_start="In Progress", on_pr="in review")
    with in_office(
        tmp_path, in_turn(*fix_turns()), cloud=cloud, settings=moves
    ) as office:
        fake, github = office.jira.fake, office.story.github
        key = ask(office)
        [pull] = github.pull_requests(REPO)
        [link] = fake.remote_links(key)
        assert reply(office, key).startswith("*Done, proven* · [pull request #1|")
        [call] = calls(office, key)
        assert call.startswith(f"{fake.mention(office.jira.ann)} *Done, proven* · ")
        assert f"[APP-1]({fake.base_url}/browse/APP-1)" in pull.body
        assert link.url == f"{github.web_url}/acme/shop/pull/1"
        assert link.title == "acme/shop#1: Count every piece"
        assert been(office, key) == ["In Progress", "In Review"]
        tell(office)
        assert len(office.story.jobs()) == 1


def test_c7_where_no_way_leads_is_a_remark_and_no_failure(tmp_path: Path) -> None:
    moves = moving(on_start="Nowhere", on_pr="Shipped")
    with in_office(tmp_path, in_turn(*fix_turns()), settings=moves) as office:
        key = ask(office)
        said = reply(office, key)
        assert said.startswith("*Done, proven* · [pull request #1|")
        assert (
            "APP-1 stays where it is: the workflow has no transition to Shipped from "
            "here, only to: Done, In Progress"
        ) in said
        begun = (
            "APP-1 was not moved to Nowhere when the work began: the workflow has no "
            "transition to "
        )
        assert said.count(begun) == 1
        assert office.jira.fake.issue(key).status == "To Do"
        assert len(office.jira.fake.remote_links(key)) == len(calls(office, key)) == 1


@both
def test_a_failed_link_is_tried_again_and_nobody_waits_for_it(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=cloud) as office:
        office.jira.fake.fail_next("POST", "/remotelink$", 503)
        key = ask(office)
        assert reply(office, key).startswith("*Done, proven*")
        assert office.jira.fake.remote_links(key) == []
        office.story.work_later(10)
        assert len(office.jira.fake.remote_links(key)) == len(calls(office, key)) == 1


def test_a_comment_that_somebody_deletes_is_written_anew(tmp_path: Path) -> None:
    with in_office(tmp_path, ["Cents, or euros?"] * 3) as office:
        key = ask(office)
        office.jira.fake.delete_comment(office.jira.answers(key)[0].id)
        say(office, key, calling(office, "stop"))
        [_, said] = office.jira.answers(key)
        assert said.body.wiki.startswith("*Stopped*")


WIKI = """\
*Done, proven* · [pull request #1|GITHUB/acme/shop/pull/1] · 4 steps · Ns · \
480 tokens, price unknown · 2 files, \\+9 \\-1 · [run|GITHUB/runs/RUN]

🟢 *Proven*: in fresh sandboxes, the test fails without the change and passes with \
it, and no test that passed before fails now. \
{{test_pieces.PiecesTest.test_every_piece_counts}}: failed without the change, passed \
with it.

The agent wrote:

{quote}
The total ignored the pieces.
{quote}

run RUN · requested by Ann Lee · in acme/shop · thread read at TIME · \
model openai/scripted"""


def test_the_whole_comment_in_a_data_center(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=False) as office:
        key = ask(office)
        assert _same(reply(office, key)) == WIKI
        calls(office, key)


ADF = """\
doc
  paragraph
    text 'Done, proven' strong
    text ' · '
    text 'pull request #1' link(href=GITHUB/acme/shop/pull/1)
    text ' · 4 steps · Ns · 480 tokens, price unknown · 2 files, +9 -1 · '
    text 'run' link(href=GITHUB/runs/RUN)
  paragraph
    text '🟢 '
    text 'Proven' strong
    text ': in fresh sandboxes, the test fails without the change and passes with it, \
and no test that passed before fails now. '
    text 'test_pieces.PiecesTest.test_every_piece_counts' code
    text ': failed without the change, passed with it.'
  paragraph
    text 'The agent wrote:'
  blockquote
    paragraph
      text 'The total ignored the pieces.'
  paragraph
    text 'run RUN · requested by Ann Lee · in acme/shop · thread read at TIME · \
model openai/scripted' subsup(type=sub)"""


def test_the_whole_comment_in_the_cloud(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        key = ask(office)
        [comment, _] = office.jira.answers(key)
        assert comment.body.adf is not None
        assert _same(outline(comment.body.adf)) == ADF


def _same(text: str) -> str:
    """Put a word in the place of commits and digests, which have other quotes here."""
    return re.sub(r"\b[0-9a-f]{10}(?:[0-9a-f]{2})?\b", "HASH", steady(text))
