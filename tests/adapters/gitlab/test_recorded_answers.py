"""What others recorded of GitLab is asked for at the same addresses, and is read.

The recordings have lost the dates and numbers of some answers; they get some here.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import responses
from pydantic import BaseModel, SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.gitlab import answers
from patchwright.integrations.gitlab.adapter import GitLab, connect_token
from patchwright.integrations.gitlab.connection import GitLabAddresses

ROOT = "https://git.example/gitlab"
# The recordings name their projects by number.
ONE, FIVE = (RepoRef(forge="gitlab", full_name=name) for name in "15")
DISCUSSION = "6a9c1750b37d513a43987b574953fceb50b03ce7"
ADDED = {"created_at": "2019-07-11T22:34:43.500Z", "iid": 5, "state": "opened"}


def complete(body: Any) -> Any:
    """Put in what every real answer has."""
    if isinstance(body, list):
        return [complete(one) for one in body]
    if not isinstance(body, dict):
        return body
    known = {key: complete(value) for key, value in body.items()}
    return {**ADDED, **known} if {"title", "body", "description"} & set(body) else known


@pytest.fixture
def exchanges(corpus: Path | None) -> list[dict[str, Any]]:
    if corpus is None:
        return []
    found: list[dict[str, Any]] = json.loads(
        (corpus / "gitlab/rest/exchanges.json").read_bytes()
    )
    return found


@pytest.fixture
def gitlab(exchanges: list[dict[str, Any]]) -> Iterator[GitLab | None]:
    if not exchanges:
        yield None
        return
    connected = connect_token(
        GitLabAddresses(base_url=ROOT), SecretStr("glpat-1"), clock=SystemClock()
    )
    with responses.RequestsMock(assert_all_requests_are_fired=False) as server:
        for one in exchanges:
            path = one["path"].partition("?")[0]
            server.add(one["method"], f"{ROOT}{path}", json=complete(one["body"]))
        yield connected
    connected.close()


def pull(number: int, repo: RepoRef = ONE) -> ForgeThread:
    return ForgeThread(repo=repo, kind=ThreadKind.MERGE_REQUEST, number=number)


def reaction_to(thread: ForgeThread, post_id: str = "") -> Trigger:
    return Trigger(
        key="1",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="gitlab", login="ann"),
        thread=thread,
        request="",
        post_id=post_id,
    )


def test_a_member_is_asked_for_where_inherited_ones_are(gitlab: GitLab | None) -> None:
    if gitlab is None:
        return
    person = Actor(service="gitlab", login="whoever", external_id="1")
    assert gitlab.forge.fetch_permission(ONE, person) is Permission.WRITE


def test_a_review_thread_is_answered_and_resolved(gitlab: GitLab | None) -> None:
    if gitlab is None:
        return
    ref = pull(11, FIVE)
    gitlab.channel.resolve_review(ref, DISCUSSION)
    found = gitlab.api.ask(
        FIVE,
        lambda project: project.mergerequests.get(11, lazy=True).discussions.get(
            DISCUSSION
        ),
    )
    read = answers.DiscussionAnswer.model_validate(found.asdict())
    assert [(note.body, note.is_on_diff) for note in read.notes] == [
        ("discussion text", False)
    ]
    assert gitlab.forge.fetch_change_requesters(ONE, 5) == ()


def test_reactions_go_to_the_merge_request_or_to_its_note(
    gitlab: GitLab | None,
) -> None:
    if gitlab is None:
        return
    gitlab.channel.acknowledge(reaction_to(pull(80)))
    gitlab.channel.acknowledge(reaction_to(pull(80), "1"))


def test_branches_and_commits_are_read(gitlab: GitLab | None) -> None:
    if gitlab is None:
        return
    sha = "b0b3a907f41409829b307a28b82fdbd552ee5a27"
    assert gitlab.forge.has_branch(ONE, "master")
    said = gitlab.forge.fetch_commit_message(ONE, sha)
    assert said == "Sanitize for network graph"


def test_merge_requests_of_a_commit_are_read(gitlab: GitLab | None) -> None:
    if gitlab is None:
        return
    found = gitlab.api.ask(
        ONE, lambda project: project.commits.get("master", lazy=True).merge_requests()
    )
    [first, *_] = map(answers.MergeRequestAnswer.model_validate, found)
    assert (first.iid, first.target_branch) == (1, "master")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (r"/projects/1/issues(/5)?$", answers.IssueAnswer),
        (r"/discussions(/\w+)?$", answers.DiscussionAnswer),
        (r"/notes/3$", answers.NoteAnswer),
        (r"/members(/all)?(/1)?$", answers.MemberAnswer),
        (r"/labels(/5)?$", answers.LabelAnswer),
        (r"/jobs$", answers.CommitStatusAnswer),
        (r"/reviewers$", answers.ReviewerAnswer),
        (r"/participants$", answers.UserAnswer),
        (r"/branches(/master)?$", answers.BranchAnswer),
        (r"/commits(/\w{40})?$", answers.CommitAnswer),
        (r"/diffs$", answers.DiffAnswer),
    ],
)
def test_every_recorded_answer_of_a_kind_is_read(
    exchanges: list[dict[str, Any]], path: str, kind: type[BaseModel]
) -> None:
    bodies = [one["body"] for one in exchanges if _is_of(one, path)]
    found = [
        kind.model_validate(complete(one))
        for body in bodies
        for one in (body if isinstance(body, list) else [body])
    ]
    assert bool(found) == bool(exchanges)


def _is_of(exchange: dict[str, Any], path: str) -> bool:
    """Tell whether an answer, not an empty one, came from an address like that."""
    return bool(re.search(path, exchange["path"]) and exchange["body"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("get_merge_request", answers.MergeRequestAnswer),
        ("get_merge_requests", answers.MergeRequestAnswer),
        ("issue_move", answers.IssueAnswer),
        ("get_user", answers.UserAnswer),
        ("search_users", answers.UserAnswer),
        ("get_branch", answers.BranchAnswer),
        ("list_branches", answers.BranchAnswer),
        ("get_commit", answers.CommitAnswer),
        ("list_merge_request_diff", answers.DiffAnswer),
    ],
)
def test_longer_recordings_are_read(
    corpus: Path | None, name: str, kind: type[BaseModel]
) -> None:
    if corpus is None:
        return
    body = json.loads((corpus / f"gitlab/rest/{name}.json").read_bytes())
    for one in body if isinstance(body, list) else [body]:
        kind.model_validate(one)
