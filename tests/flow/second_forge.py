"""A second forge, in memory: all that a plug-in needs to take part in a run."""
# ruff: noqa: ARG002 - it has one repository, and no buttons

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr, TypeAdapter

from patchwright.core.channel import Offers, ServiceChannel
from patchwright.core.forge import Forge, GitCredential, PullRequestText
from patchwright.core.plugin import (
    ForgeConnection,
    Plugin,
    PluginRoutes,
    ServiceProfile,
)
from patchwright.core.plugin_host import PluginHost
from patchwright.core.types.errors import NotFoundError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    Repository,
    Thread,
    ThreadKind,
    ThreadPost,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.integrations.http.signatures import verify_sha256
from tests.fakes.github.bare import find_commit, git

NAME = "burrow"
URL = "https://burrow.test"
SECRET = "burrow secret"
SIGNATURE = "x-burrow-signature"
REPO = RepoRef(forge=NAME, full_name="acme/shop")
BOT = Actor(service=NAME, login="patchwright", is_bot=True)
PROFILE = ServiceProfile(
    name=NAME,
    title="Burrow",
    is_configured=True,
    web_url=URL,
    account_host=URL,
    mention="@patchwright",
    mail_domain="burrow.test",
)
_ISSUE = TypeAdapter(dict[str, str])


@dataclass
class Burrow(ForgeConnection, Forge, ServiceChannel[ForgeThread]):
    """One repository in `folder`, its issues, their posts, and pull requests."""

    folder: Path
    permissions: Mapping[str, Permission]
    issues: dict[int, str] = field(default_factory=dict)
    posts: list[tuple[int, str]] = field(default_factory=list)
    pulls: dict[int, PullRequest] = field(default_factory=dict)

    @property
    def plugin(self) -> Plugin:
        return Plugin(
            name=NAME,
            title=PROFILE.title,
            describe=lambda _: PROFILE,
            connect_forge=lambda *_: self,
        )

    @property
    def forge(self) -> "Burrow":
        return self

    @property
    def channel(self) -> "Burrow":
        return self

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        identify = by_header("x-burrow-delivery")
        source = WebhookSource(self, identify, signature_header=SIGNATURE)
        return PluginRoutes(source)

    def read(self, headers: Mapping[str, str], body: bytes) -> Trigger:
        """Read a delivery: each is an issue that mentions us."""
        verify_sha256(body, headers.get(SIGNATURE, ""), (SecretStr(SECRET),))
        asked, number = _ISSUE.validate_json(body), headers["x-burrow-issue"]
        return Trigger(
            key=f"{NAME}:{number}",
            kind=TriggerKind.BODY_MENTION,
            actor=Actor(service=NAME, login=asked["author"]),
            thread=ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=int(number)),
            request=asked["body"].removeprefix("@patchwright").strip(),
            title=asked["title"],
            body=asked["body"],
        )

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        return self.permissions.get(actor.login, Permission.NONE)

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return Repository(
            ref=repo,
            default_branch="main",
            clone_url=self.folder.as_uri(),
            web_url=f"{URL}/{repo.full_name}",
            private=False,
        )

    def mint_credential(self, repo: RepoRef) -> GitCredential:
        return GitCredential(username="bot", token=SecretStr("a token of the forge"))

    def fetch_file(self, repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        is_there = git(self.folder, "ls-tree", ref or "main", path)
        return git(self.folder, "show", f"{ref or 'main'}:{path}") if is_there else None

    def has_branch(self, repo: RepoRef, branch: str) -> bool:
        return find_commit(self.folder, f"refs/heads/{branch}") is not None

    def fetch_pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        if number not in self.pulls:
            raise NotFoundError(f"there is no pull request {number}")
        pull = self.pulls[number]
        head = find_commit(self.folder, f"refs/heads/{pull.head_branch}")
        return pull.replace(head_sha=head or "")

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        found = (n for n, one in self.pulls.items() if one.head_branch == head_branch)
        return next((self.fetch_pull_request(repo, number) for number in found), None)

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest:
        number = 1 + len(self.issues) + len(self.pulls)
        self.pulls[number] = PullRequest(
            number=number,
            url=f"{URL}/{repo.full_name}/pulls/{number}",
            head_branch=head_branch,
            base_branch=base_branch,
            head_sha="",
            same_repository=True,
            draft=text.draft,
        )
        return self.update_pull_request(repo, number, text)

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        self.pulls[number] = self.pulls[number].replace(
            title=text.title, body=text.body, draft=text.draft
        )
        return self.fetch_pull_request(repo, number)

    def fetch_thread(self, ref: ForgeThread) -> Thread:
        asked = _ISSUE.validate_json(self.issues[ref.number])
        author = Actor(service=NAME, login=asked["author"])
        at = datetime.fromisoformat(asked["at"])
        told = (
            ThreadPost(id=str(index), author=BOT, text=text, at=at)
            for index, (number, text) in enumerate(self.posts)
            if number == ref.number
        )
        opening = ThreadPost(id="", author=author, text=asked["body"], at=at)
        url = f"{URL}/{ref.repo.full_name}/issues/{ref.number}"
        return Thread(ref=ref, title=asked["title"], url=url, posts=(opening, *told))

    def find_post(self, ref: ForgeThread, mark: str) -> str | None:
        told = self.fetch_thread(ref).posts[1:]
        return next((one.id for one in told if mark in one.text), None)

    def post(self, ref: ForgeThread, text: str, offers: Offers = ()) -> str:
        self.posts.append((ref.number, text))
        return str(len(self.posts) - 1)

    def edit(
        self, ref: ForgeThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        self.posts[int(post_id)] = (ref.number, text)
