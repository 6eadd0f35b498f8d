"""What belongs to a request is gathered with the rights of who made it."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.channel import ChannelRouter
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, Thread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.integrations.github.adapter import GitHub, connect_token
from patchwright.integrations.github.connection import locate
from patchwright.resolver.context.context import Context
from patchwright.resolver.context.gather import (
    GatheredContext,
    RequestContext,
    StartingPoint,
    gather_context,
    suggest_base,
)
from patchwright.resolver.context.images import MAX_IMAGES
from patchwright.resolver.context.thread_history import thread_as_requested
from tests.fakes.github.acts.attachments import upload
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub

SHOP = RepoRef(forge="github", full_name="acme/shop")
PNG = b"\x89PNG\r\n\x1a\nshot"
CODE = "".join(f"line {number}\n" for number in range(1, 201))


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with FakeGitHub(enterprise=True) as fake:
        fake.add_repository("acme/shop", files={"a.py": CODE})
        fake.add_repository("acme/vault", private=True, files={"a.py": CODE})
        for login in ("alice", "eve"):
            fake.add_user(login)
        fake.grant("acme/shop", "alice", "write")
        yield fake


@pytest.fixture
def github(fake: FakeGitHub) -> Iterator[GitHub]:
    token = fake.add_user("robot")
    for repo in ("acme/shop", "acme/vault"):
        fake.grant(repo, "robot", "write")
    found = connect_token(
        locate(fake.api_url), SecretStr(token), clock=SystemClock(), pause_s=0
    )
    yield found
    found.close()


class RunLookup:
    """Gathers for one thread of `acme/shop`."""

    def __init__(self, fake: FakeGitHub, github: GitHub, folder: Path) -> None:
        self._fake, self._github = fake, github
        self._mirrors = MirrorCache(folder)

    def scene(
        self, number: int, asked_by: str = "alice", post: int = 0
    ) -> RequestContext:
        is_pull = self._fake.issue("acme/shop", number).pull is not None
        kind = ThreadKind.PULL_REQUEST if is_pull else ThreadKind.ISSUE
        ref = ForgeThread(repo=SHOP, kind=kind, number=number)
        trigger = Trigger(
            key="k",
            kind=TriggerKind.COMMENT_MENTION,
            actor=Actor(service="github", login=asked_by),
            thread=ref,
            request="fix it",
            post_id=str(post) if post else "",
        )
        now = datetime.now(UTC) + timedelta(minutes=1)  # noqa: TID251 - the server's clock
        thread: Thread = self._github.channel.fetch_thread(ref)
        return RequestContext(
            channel=ChannelRouter(self._github.channel),
            forge=self._github.forge,
            repository=self._github.forge.fetch_repository(SHOP),
            thread=thread_as_requested(thread, trigger, now),
            trigger=trigger,
            asked_at=now,
        )

    def gather(
        self, number: int, asked_by: str = "alice", post: int = 0, base: str = "main"
    ) -> GatheredContext:
        scene = self.scene(number, asked_by, post)
        forge, is_pull = self._github.forge, scene.thread.ref.kind != ThreadKind.ISSUE
        pull = forge.fetch_pull_request(SHOP, number) if is_pull else None
        head = f"refs/heads/{pull.head_branch if pull else base}"
        mirror = self._mirrors.fetch(
            scene.repository.clone_url,
            forge.mint_credential(SHOP),
            list(dict.fromkeys([head, f"refs/heads/{base}"])),
        )
        work = StartingPoint(
            code=mirror.objects,
            base_branch=base,
            base_sha=mirror.resolve(f"refs/heads/{base}"),
            start_sha=mirror.resolve(head),
            pull=pull,
        )
        return gather_context(scene, work)

    def context(self, number: int, asked_by: str = "alice", post: int = 0) -> Context:
        return self.gather(number, asked_by, post).context


@pytest.fixture
def run_lookup(fake: FakeGitHub, github: GitHub, tmp_path: Path) -> RunLookup:
    return RunLookup(fake, github, tmp_path)


def mentioned(context: Context) -> dict[str, list[str]]:
    return {one.name: [q.text for q in one.quotes] for one in context.mentioned}


def test_c3_issues_commits_and_lines_are_read(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    old = fake.open_issue("acme/shop", "eve", "Old", "It was so before.")
    sha = fake.commit_files(
        "acme/shop", "main", {"b.py": "1\n"}, message="Break the sum"
    )
    link = f"{fake.web_url}/acme/shop/blob/{sha}/a.py#L100-L101"
    body = f"See #{old}, {sha} and {link}. Not `#1` nor #999."
    number = fake.open_issue("acme/shop", "alice", "Wrong", body)
    found = mentioned(run_lookup.context(number))
    assert found[f"#{old}"] == ["Old", "It was so before."]
    assert found[f"commit {sha[:12]}"] == ["Break the sum"]
    [lines] = found[f"{sha}/a.py#L100"]
    assert lines.split("\n") == [f"line {n}" for n in range(95, 107)]
    assert found["#999"] == []


def test_c3_what_is_private_is_read_with_the_requesters_rights(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    secret = fake.open_issue("acme/vault", "acme", "Secret", "The password is 7.")
    number = fake.open_issue("acme/shop", "alice", "Wrong", f"acme/vault#{secret}")
    name = f"acme/vault#{secret}"
    assert mentioned(run_lookup.context(number)) == {name: []}
    fake.grant("acme/vault", "alice", "read")
    assert mentioned(run_lookup.context(number)) == {
        name: ["Secret", "The password is 7."]
    }


def test_c3_a_strangers_link_carries_nothing_private_into_a_public_thread(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    fake.grant("acme/vault", "alice", "read")
    secret = fake.open_issue("acme/vault", "acme", "Secret", "The password is 7.")
    number = fake.open_issue("acme/shop", "eve", "Wrong", f"acme/vault#{secret}")
    assert mentioned(run_lookup.context(number)) == {f"acme/vault#{secret}": []}


def test_c3_at_most_ten_references_are_read(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    body = " ".join(f"#{number}" for number in range(100, 130))
    number = fake.open_issue("acme/shop", "alice", "Wrong", body)
    assert len(run_lookup.context(number).mentioned) == 10


def test_c4_pictures_are_read_as_what_they_are(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    shot = upload(fake.world, "acme/shop", PNG)
    text = upload(fake.world, "acme/shop", b"<svg/>")
    other = "https://example.com/x.png"
    body = f"![a]({other}) ![b]({text}) ![c]({shot})"
    number = fake.open_issue("acme/shop", "alice", "Broken", body)
    found = run_lookup.gather(number)
    assert [(p.name, p.problem) for p in found.context.pictures] == [
        ("", "example.com is not a host of this GitHub"),
        ("", "it is not a PNG, JPEG, GIF or WebP"),
        ("image-1.png", ""),
    ]
    image = found.images["image-1.png"]
    assert (image.name, image.media_type) == ("image-1.png", "image/png")
    assert base64.b64decode(image.data) == PNG


def test_c4_only_so_many_pictures_are_read(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    shots = [upload(fake.world, "acme/shop", PNG) for _ in range(MAX_IMAGES + 1)]
    number = fake.open_issue("acme/shop", "alice", "Broken", "\n\n".join(shots))
    found = run_lookup.gather(number)
    assert len(found.images) == MAX_IMAGES
    assert found.context.pictures[-1].problem == f"only {MAX_IMAGES} are read"


def test_c2_a_pull_request_is_compared_with_where_it_left_its_base(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    fake.commit_files("acme/shop", "fix", {"b.py": "new\n"}, author="alice")
    left = fake.commit_files("acme/shop", "main", {"c.py": "later\n"})
    proposal = Proposal(title="Fix", head="fix", base="main")
    number = fake.open_pull_request("acme/shop", "alice", proposal)
    diff = run_lookup.context(number).diff
    assert diff is not None
    assert (diff.base_branch, diff.head_branch) == ("main", "fix")
    assert diff.merge_base != left
    assert diff.paths == ("added b.py",)
    assert diff.text.endswith("@@ -0,0 +1 @@\n+new\n")


def test_s34_an_issue_about_another_branch_suggests_it(
    fake: FakeGitHub, run_lookup: RunLookup
) -> None:
    fake.commit_files("acme/shop", "feat/x", {"b.py": "new\n"})
    link = f"{fake.web_url}/acme/shop/blob/feat/x/a.py#L10"
    number = fake.open_issue("acme/shop", "alice", "Wrong", f"See {link}")
    assert suggest_base(run_lookup.scene(number)) == "feat/x"
    assert run_lookup.context(number).other_branch == "feat/x"
    followed = run_lookup.gather(number, base="feat/x").context
    assert followed.other_branch == ""
    assert followed.notes == (
        "The links to code in the thread lead to `feat/x`, so the work is on it.",
    )


@pytest.mark.parametrize("rest", ["gone/a.py", "main/a.py"])
def test_s34_a_deleted_branch_or_the_default_branch_changes_nothing(
    fake: FakeGitHub, run_lookup: RunLookup, rest: str
) -> None:
    link = f"{fake.web_url}/acme/shop/blob/{rest}"
    number = fake.open_issue("acme/shop", "alice", "Wrong", f"See {link}")
    assert suggest_base(run_lookup.scene(number)) == ""
    assert run_lookup.context(number).other_branch == ""
