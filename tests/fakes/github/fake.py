"""A GitHub to test against: people act by method call, programs over real HTTP."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.types.base import Ids, RandomIds
from tests.fakes.github import bare
from tests.fakes.github.acts import accounts, pulls, repositories, threads
from tests.fakes.github.contract import Contract
from tests.fakes.github.dispatch import RequestSeen
from tests.fakes.github.exchange import Answer
from tests.fakes.github.faults import Interruption, Moment, When
from tests.fakes.github.seen import PullRequestSeen, pull_request_seen
from tests.fakes.github.site import Names, Site
from tests.fakes.github.state import Comment, Delivery, Issue, Reaction, Subject

SYSTEM_CLOCK = SystemClock()
RANDOM_IDS = RandomIds()
SERVER_ERROR = {"message": "Server Error"}


class FakeGitHub:
    """Answers while its `with` block runs; everything it holds is gone afterwards.

    With `enterprise` the API lies under `/api/v3`, as on GitHub Enterprise Server. With
    `names` it calls itself by those, under which others bring its clients to `address`.
    What people do by these methods takes the same way as what programs do through
    the API, and is announced by webhooks in `deliveries`, which `deliver` carries to
    their receiver. With a `contract`, and where `PATCHWRIGHT_CORPUS` names one, every
    exchange is held against GitHub's OpenAPI description when the block ends.
    """

    def __init__(
        self,
        *,
        enterprise: bool = False,
        port: int = 0,
        host: str = "127.0.0.1",
        names: Names | None = None,
        clock: Clock = SYSTEM_CLOCK,
        ids: Ids = RANDOM_IDS,
        contract: Contract | None = None,
    ) -> None:
        self._site = Site(
            enterprise=enterprise,
            port=port,
            host=host,
            names=names,
            clock=clock,
            ids=ids,
            contract=contract,
        )
        self.world = self._site.world
        self.api_url = self.world.api_url
        self.web_url = self.world.web_url
        self.address = self._site.address

    def __enter__(self) -> Self:
        self._site.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._site.__exit__(kind, problem, trace)

    @property
    def requests(self) -> list[RequestSeen]:
        """What was asked over HTTP so far, git included."""
        return list(self._site.dispatch.log)

    @property
    def contract_errors(self) -> list[str]:
        """What was said so far that GitHub would not say or hear."""
        return self._site.journal.errors()

    @property
    def deliveries(self) -> list[Delivery]:
        """All webhooks sent so far, oldest first."""
        with self.world.lock:
            return list(self.world.deliveries)

    def delivery(self, event: str, action: str | None = None) -> Delivery:
        """Return the newest delivery of that event, or of that action of it."""
        for delivery in reversed(self.deliveries):
            if delivery.event == event and action in (None, delivery.action):
                return delivery
        raise LookupError(f"no {event} was delivered")

    def fail_next(
        self,
        method: str,
        path_regex: str,
        status: int,
        *,
        headers: Mapping[str, str] | None = None,
        body: object = SERVER_ERROR,
        times: int = 1,
        when: When = When.INSTEAD,
    ) -> None:
        """Let the next matching requests fail, instead of their work or after it."""
        answer = Answer(status=status, headers=headers or {}, body=body)
        self._site.faults.add(method, path_regex, answer, times=times, when=when)

    def interrupt_next(
        self,
        method: str,
        path_regex: str,
        happens: Callable[[], None],
        *,
        moment: Moment,
        body_regex: str = "",
    ) -> None:
        """Let something happen in the middle of the next request that matches.

        Who has asked waits for its answer as long as that takes.
        """
        self._site.faults.interruptions.append(
            Interruption(
                method=method,
                path=re.compile(path_regex),
                body=re.compile(body_regex.encode()),
                moment=moment,
                happens=happens,
            )
        )

    def add_user(self, login: str, *, bot: bool = False) -> str:
        """Make an account and return a personal access token of it."""
        with self.world.lock:
            return accounts.add_user(self.world, login, bot=bot)

    def add_repository(
        self,
        full_name: str,
        *,
        default_branch: str = "main",
        private: bool = False,
        files: Mapping[str, bare.Content] | None = None,
        from_path: Path | None = None,
    ) -> None:
        """Make a repository whose first commit holds the files, or those of a folder.

        An owner that has no account yet becomes an organization.
        """
        found = bare.read_folder(from_path) if from_path else {}
        with self.world.lock:
            repositories.add_repository(
                self.world,
                full_name,
                default_branch=default_branch,
                private=private,
                files={**found, **(files or {})},
            )

    def commit_files(
        self,
        full_name: str,
        branch: str,
        files: Mapping[str, bare.Content],
        *,
        author: str | None = None,
        message: str = "Change files",
    ) -> str:
        """Commit on a branch and return the commit; None as content deletes a file.

        A new branch starts where the default branch stands.
        """
        with self.world.lock:
            repo = self.world.repo(full_name)
            by = author or repo.owner
            return repositories.commit(
                self.world, repo, branch, files, message=message, author=by
            )

    def fork(self, full_name: str, owner: str) -> str:
        """Fork it under another account and return the fork's full name."""
        with self.world.lock:
            return repositories.fork(self.world, full_name, owner).full_name

    def grant(
        self, full_name: str, login: str, role: str, *, role_name: str | None = None
    ) -> None:
        """Give a role, `read` to `admin`, under its own or an organization's name."""
        with self.world.lock:
            repositories.grant(self.world, full_name, login, role, role_name)

    def protect_branch(self, full_name: str, branch: str) -> None:
        with self.world.lock:
            repositories.protect_branch(self.world, full_name, branch)

    def add_hook(self, full_name: str, secret: str) -> int:
        """Add a webhook to one repository, as its admins can without an App."""
        with self.world.lock:
            return repositories.add_hook(self.world, full_name, secret)

    def add_app(
        self,
        app_id: int,
        slug: str,
        webhook_secret: str,
        *,
        permissions: Mapping[str, str] | None = None,
    ) -> str:
        """Register a GitHub App and return its private key, as PEM."""
        with self.world.lock:
            return accounts.add_app(
                self.world, app_id, slug, webhook_secret, permissions
            )

    def install_app(self, app_id: int, owner: str, repositories: Iterable[str]) -> int:
        """Install it on repositories of one account; return the installation's id."""
        with self.world.lock:
            return accounts.install_app(self.world, app_id, owner, repositories).id

    def mint_actions_token(self, full_name: str, permissions: Mapping[str, str]) -> str:
        """Return what a workflow run there would find as GITHUB_TOKEN."""
        with self.world.lock:
            return accounts.mint_actions_token(self.world, full_name, permissions)

    def forbid_actions_pull_requests(self) -> None:
        """Untick "Allow GitHub Actions to create and approve pull requests"."""
        with self.world.lock:
            self.world.actions_may_open_pulls = False

    def open_issue(self, full_name: str, author: str, title: str, body: str) -> int:
        with self.world.lock:
            repo = self.world.repo(full_name)
            issue = threads.open_issue(
                self.world, repo, author=author, title=title, body=body
            )
            return issue.number

    def edit_issue(
        self,
        full_name: str,
        number: int,
        actor: str,
        *,
        title: str | None = None,
        body: str | None = None,
    ) -> None:
        """Change title or body of an issue or pull request."""
        with self.world.lock:
            issue = self.world.issue(full_name, number)
            threads.edit_issue(self.world, issue, actor=actor, title=title, body=body)

    def close_issue(self, full_name: str, number: int, actor: str) -> None:
        with self.world.lock:
            issue = self.world.issue(full_name, number)
            threads.set_open(self.world, issue, actor=actor, is_open=False)

    def label(self, full_name: str, number: int, label: str, actor: str) -> None:
        with self.world.lock:
            issue = self.world.issue(full_name, number)
            threads.add_label(self.world, issue, label, actor=actor)

    def unlabel(self, full_name: str, number: int, label: str, actor: str) -> None:
        with self.world.lock:
            issue = self.world.issue(full_name, number)
            threads.remove_label(self.world, issue, label, actor=actor)

    def comment(self, full_name: str, number: int, author: str, body: str) -> int:
        """Comment on an issue or pull request; return the comment's id."""
        with self.world.lock:
            issue = self.world.issue(full_name, number)
            return threads.comment(self.world, issue, author=author, body=body).id

    def edit_comment(self, comment_id: int, actor: str, body: str) -> None:
        with self.world.lock:
            comment = self.world.comments[comment_id]
            threads.edit_comment(self.world, comment, actor=actor, body=body)

    def delete_comment(self, comment_id: int, actor: str) -> None:
        with self.world.lock:
            comment = self.world.comments[comment_id]
            threads.delete_comment(self.world, comment, actor=actor)

    def open_pull_request(
        self, full_name: str, author: str, proposal: pulls.Proposal
    ) -> int:
        with self.world.lock:
            repo = self.world.repo(full_name)
            return pulls.open_pull(self.world, repo, proposal, author=author).number

    def issue(self, full_name: str, number: int) -> Issue:
        """Return an issue, or a pull request as the issue that it also is."""
        with self.world.lock:
            return self.world.issue(full_name, number)

    def comments(self, full_name: str, number: int) -> list[Comment]:
        """Return the comments as they read now, oldest first."""
        with self.world.lock:
            return self.world.comments_of(self.world.issue(full_name, number))

    def reactions(
        self, full_name: str, number: int, comment_id: int | None = None
    ) -> list[Reaction]:
        """Return the reactions to a comment, or to the thread's own text."""
        with self.world.lock:
            repo = self.world.repo(full_name).full_name
            subject = Subject(repo=repo, number=number, comment_id=comment_id)
            return self.world.reactions_on(subject)

    def pull_requests(self, full_name: str) -> list[PullRequestSeen]:
        """Return all of them, open or not, oldest first."""
        with self.world.lock:
            issues = self.world.issues_of(full_name)
            return [pull_request_seen(self.world, i) for i in issues if i.pull]

    def git_folder(self, full_name: str) -> Path:
        """Return the bare repository, for a look with git itself."""
        return self.world.repo(full_name).git
