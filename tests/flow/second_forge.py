"""A second forge, in memory: all that a plug-in needs to take part in a run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr, TypeAdapter

from patchwright.core.channel import Offers
from patchwright.core.clock import Clock
from patchwright.core.errors import InvalidRequestError, NotFoundError
from patchwright.core.forge import GitCredential, PullRequestText
from patchwright.core.plugin import Plugin, PluginRoutes, ServiceProfile
from patchwright.core.plugin_host import PluginHost
from patchwright.core.settings.model import Settings
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
from patchwright.core.types.triggers import ParsedWebhook, Trigger, TriggerKind
from patchwright.core.webhook import WebhookSource, by_header
from patchwright.integrations.signatures import verify_sha256
from tests.fakes.github.bare import find_commit, git

NAME = "burrow"
TITLE = "Burrow"
URL = "https://burrow.test"
SECRET = "burrow secret"
SIGNATURE = "x-burrow-signature"
REPO = RepoRef(forge=NAME, full_name="acme/shop")
BOT = Actor(service=NAME, login="patchwright", is_bot=True)
_MENTION = TypeAdapter(dict[str, str])


@dataclass
class Burrow:
    """One repository in `folder`, its issues and pull requests; a `ForgeConnection`.

    It has neither checks nor metadata nor reviews nor a way to sign in.
    """

    folder: Path
    permissions: Mapping[str, Permission]
    clock: Clock
    issues: dict[int, str] = field(default_factory=dict)
    posts: dict[int, list[str]] = field(default_factory=dict)
    pulls: dict[int, PullRequest] = field(default_factory=dict)
    checks = pull_metadata = commits = reviews = None
    git_environment: Mapping[str, str] = field(default_factory=dict)
    starts_no_checks: bool = False

    @property
    def plugin(self) -> Plugin:
        return Plugin(
            name=NAME,
            title=TITLE,
            describe=describe,
            connect_forge=lambda _settings, _secrets, _clock: self,
        )

    @property
    def forge(self) -> "Burrow":
        return self

    @property
    def channel(self) -> "BurrowChannel":
        return BurrowChannel(self)

    def fetch_identity(self) -> Actor:
        return BOT

    def find_hooks(self, _url: str, _repos: Iterable[RepoRef]) -> tuple[()]:
        return ()

    def open_routes(self, host: PluginHost) -> PluginRoutes:
        source = WebhookSource(
            receiver=BurrowReceiver(),
            identify=by_header("x-burrow-delivery"),
            max_body_bytes=host.max_body_bytes,
            signature_header=SIGNATURE,
        )
        return PluginRoutes(webhook_source=source)

    def close(self) -> None:
        """Hold nothing open."""

    def fetch_permission(self, _repo: RepoRef, actor: Actor) -> Permission:
        return self.permissions.get(actor.login, Permission.NONE)

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return Repository(
            ref=repo,
            default_branch="main",
            clone_url=self.folder.as_uri(),
            web_url=f"{URL}/{repo.full_name}",
            private=False,
        )

    def mint_credential(self, _repo: RepoRef) -> GitCredential:
        return GitCredential(username="bot", token=SecretStr("a token of the forge"))

    def fetch_file(self, _repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        name = f"{ref or 'main'}:{path}"
        if not git(self.folder, "ls-tree", ref or "main", path):
            return None
        return git(self.folder, "show", name)

    def has_branch(self, _repo: RepoRef, branch: str) -> bool:
        return find_commit(self.folder, f"refs/heads/{branch}") is not None

    def fetch_pull_request(self, _repo: RepoRef, number: int) -> PullRequest:
        if number not in self.pulls:
            raise NotFoundError(f"there is no pull request {number}")
        pull = self.pulls[number]
        head = find_commit(self.folder, f"refs/heads/{pull.head_branch}")
        return pull.replace(head_sha=head or "")

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        numbers = (n for n, p in self.pulls.items() if p.head_branch == head_branch)
        return next((self.fetch_pull_request(repo, one) for one in numbers), None)

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
            draft=text.draft,
            same_repository=True,
            title=text.title,
            body=text.body,
        )
        return self.fetch_pull_request(repo, number)

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest:
        changed = self.fetch_pull_request(repo, number)
        self.pulls[number] = changed.replace(
            title=text.title, body=text.body, draft=text.draft
        )
        return self.pulls[number]


@dataclass(frozen=True)
class BurrowChannel:
    """The issues of a burrow; a `ServiceChannel`."""

    burrow: Burrow

    def acknowledge(self, trigger: Trigger) -> None:
        """Have no reactions."""

    def decline(self, trigger: Trigger) -> None:
        """Have no reactions."""

    def fetch_thread(self, ref: ForgeThread) -> Thread:
        asked = _MENTION.validate_json(self.burrow.issues[ref.number])
        author, at = Actor(service=NAME, login=asked["author"]), asked["at"]
        opening = ThreadPost(
            id="", author=author, text=asked["body"], at=datetime.fromisoformat(at)
        )
        posts = enumerate(self.burrow.posts.get(ref.number, []))
        told = (
            ThreadPost(
                id=str(number), author=BOT, text=text, at=self.burrow.clock.now()
            )
            for number, text in posts
        )
        url = f"{URL}/{ref.repo.full_name}/issues/{ref.number}"
        return Thread(ref=ref, title=asked["title"], url=url, posts=(opening, *told))

    def fetch_opening(self, ref: ForgeThread) -> Thread:
        return self.fetch_thread(ref)

    def find_post(self, ref: ForgeThread, mark: str) -> str | None:
        posts = enumerate(self.burrow.posts.get(ref.number, []))
        return next((str(number) for number, text in posts if mark in text), None)

    def post(self, ref: ForgeThread, text: str, offers: Offers = ()) -> str:  # noqa: ARG002 - it has no buttons
        posts = self.burrow.posts.setdefault(ref.number, [])
        posts.append(text)
        return str(len(posts) - 1)

    def edit(
        self,
        ref: ForgeThread,
        post_id: str,
        text: str,
        offers: Offers = (),  # noqa: ARG002 - it has no buttons
    ) -> None:
        self.burrow.posts[ref.number][int(post_id)] = text

    def delete(self, ref: ForgeThread, post_id: str) -> None:
        self.burrow.posts[ref.number][int(post_id)] = ""

    def tell_privately(
        self, _ref: ForgeThread, actor: Actor, _text: str, _offers: Offers = ()
    ) -> None:
        raise InvalidRequestError(f"{actor.login} reads what everybody reads here")

    def swap_labels(
        self, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        """Have no labels."""

    def fetch_attachment(
        self, _ref: ForgeThread, url: str, _max_bytes: int, _post_id: str = ""
    ) -> bytes:
        raise InvalidRequestError(f"it keeps no file {url}")


@dataclass(frozen=True)
class BurrowReceiver:
    """A `WebhookReceiver`: each delivery is an issue that mentions us."""

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        verify_sha256(body, headers.get(SIGNATURE, ""), (SecretStr(SECRET),))
        asked, number = _MENTION.validate_json(body), headers["x-burrow-issue"]
        return Trigger(
            key=f"{NAME}:{number}",
            kind=TriggerKind.BODY_MENTION,
            actor=Actor(service=NAME, login=asked["author"]),
            thread=ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=int(number)),
            request=asked["body"].removeprefix("@patchwright").strip(),
            title=asked["title"],
            body=asked["body"],
        )


def describe(settings: Settings) -> ServiceProfile:  # noqa: ARG001 - it is as it is
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=True,
        web_url=URL,
        account_host=URL,
        mention="@patchwright",
        mail_domain="burrow.test",
    )
