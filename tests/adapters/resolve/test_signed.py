"""A run's commit is made by the forge where it can be, byte for byte, else not."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.channel import ChannelRouter
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import BranchMovedError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import Mirror, MirrorCache
from patchwright.integrations.github.adapter import GitHub, connect_token
from patchwright.integrations.github.connection import Addresses
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.branches import push_signed
from patchwright.resolver.publish.destination import Destination, PublisherDependencies
from patchwright.resolver.publish.effects import PushBranch
from patchwright.resolver.publish.notifications import with_patch
from tests.adapters.git.workshop import WorkTree
from tests.fakes.github import bare
from tests.fakes.github.acts.rules import is_signed
from tests.fakes.github.fake import FakeGitHub
from tests.unit.resolver.endings import FRAME, ORIGIN

REPO = "acme/shop"
REF = RepoRef(forge="github", full_name=REPO)
BRANCH = "patchwright/7-fix"


@dataclass(frozen=True)
class Scene:
    fake: FakeGitHub
    github: GitHub
    mirror: Mirror
    work: WorkTree
    base: str

    def change(self, path: str, content: bytes, *, executable: bool = False) -> str:
        """Commit a change where no remote has it, and return the commit."""
        self.work.write(path, content)
        if executable:
            (self.work.path / path).chmod(0o755)
        sha = self.work.commit("Fix the sum\n\nThe body.")
        bundle = self.work.bundle("trunk", f"^{self.base}")
        assert self.mirror.objects.take(bundle, self.base, "run") == sha
        return sha

    def deliver(self, sha: str, **effect: str) -> str | None:
        repository = self.github.forge.fetch_repository(REF)
        to = Destination(
            repository=repository,
            thread=ForgeThread(repo=REF, kind=ThreadKind.ISSUE, number=7),
            requester=Actor(service="github", login="ann"),
            status_post="",
            origin=ORIGIN,
            frame=FRAME,
        )
        dependencies = PublisherDependencies(
            self.github.forge,
            ChannelRouter(self.github.channel),
            self.github.channel,
            lambda: self.mirror,
            forge_signs=True,
        )
        outcome = Outcome(
            kind=OutcomeKind.RESOLVED, base_sha=self.base, base_branch="trunk"
        )
        wanted = PushBranch(**{"branch": BRANCH, "sha": sha, **effect})
        return push_signed(wanted, outcome, to, dependencies)

    def head(self, branch: str = BRANCH) -> str | None:
        return bare.find_commit(self.fake.git_folder(REPO), f"refs/heads/{branch}")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with FakeGitHub() as fake:
        fake.add_repository(
            REPO, default_branch="trunk", files={"a.py": "1\n", "old.txt": "x\n" * 20}
        )
        token = SecretStr(fake.add_user("robot"))
        fake.grant(REPO, "robot", "write")
        addresses = Addresses(api_url=fake.api_url, web_url=fake.web_url)
        github = connect_token(addresses, token, clock=SystemClock(), pause_s=0)
        url = github.forge.fetch_repository(REF).clone_url
        mirror = MirrorCache(tmp_path / "mirrors").fetch(
            url, github.forge.mint_credential(REF), ["refs/heads/trunk"]
        )
        work = WorkTree.start(tmp_path / "work")
        work.git("pull", "--quiet", str(fake.git_folder(REPO)), "trunk")
        yield Scene(fake, github, mirror, work, work.head)
        github.close()


def test_s36_plain_files_become_a_signed_commit_of_the_same_tree(scene: Scene) -> None:
    scene.work.git("mv", "old.txt", "new.txt")
    sha = scene.change("bytes.bin", b"caf\xe9\r\n\x00")
    made = scene.deliver(sha)
    assert made is not None
    assert made == scene.head() != sha
    repo = scene.fake.world.repo(REPO)
    assert is_signed(repo, made)
    shown = bare.git(repo.git, "show", "-s", "--format=%T%n%P%n%B", made).decode()
    tree = scene.mirror.objects.tree_of(sha)
    assert shown.strip() == f"{tree}\n{scene.base}\nFix the sum\n\nThe body."
    assert scene.deliver(sha) == made


def test_s27_a_program_is_pushed_by_git(scene: Scene) -> None:
    sha = scene.change("run.sh", b"#!/bin/sh\n", executable=True)
    assert scene.deliver(sha) is None
    assert scene.head() is None


def test_s27_an_edit_of_a_program_is_pushed_by_git(scene: Scene) -> None:
    scene.change("run.sh", b"#!/bin/sh\n", executable=True)
    later = scene.change("run.sh", b"#!/bin/sh\necho\n")
    assert scene.deliver(later) is None


@pytest.mark.parametrize(
    "effect", [{"branch": "trunk"}, {"fork": "eve/shop"}, {"expect": "0" * 40}]
)
def test_p6_other_branches_are_left_alone(scene: Scene, effect: dict[str, str]) -> None:
    assert scene.deliver(scene.change("b.py", b"2\n"), **effect) is None
    assert scene.head("trunk") == scene.base


def test_p6_somebodys_branch_is_not_written_over(scene: Scene) -> None:
    theirs = scene.fake.commit_files(REPO, BRANCH, {"b.py": "theirs\n"})
    with pytest.raises(BranchMovedError):
        scene.deliver(scene.change("b.py", b"2\n"))
    assert scene.head() == theirs


def test_what_the_forge_refuses_is_left_to_git(scene: Scene) -> None:
    sha = scene.change("b.py", b"2\n")
    scene.fake.grant(REPO, "robot", "read")
    assert scene.deliver(sha) is None


def test_r9_what_became_no_branch_is_handed_over_as_a_patch(scene: Scene) -> None:
    sha = scene.change("b.py", b"2\n")
    dependencies = PublisherDependencies(
        scene.github.forge,
        ChannelRouter(scene.github.channel),
        scene.github.channel,
        lambda: scene.mirror,
    )
    outcome = Outcome(
        kind=OutcomeKind.RESOLVED, base_sha=scene.base, head_sha=sha, tree="t"
    )
    refused = DeliveryResult(refusal="no")
    patch = with_patch(outcome, dependencies, refused).patch
    assert "Subject: [PATCH] Fix the sum" in patch
    assert "+++ b/b.py\n@@ -0,0 +1 @@\n+2\n```" in patch
    pushed = DeliveryResult(branch="bot/fix")
    assert with_patch(outcome, dependencies, pushed) == pushed
    assert with_patch(outcome.replace(head_sha=""), dependencies, refused) == (refused)
