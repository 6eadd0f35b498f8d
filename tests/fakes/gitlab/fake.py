"""A GitLab to test against: people act by method call, programs over real HTTP."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.types.base import Ids, RandomIds
from tests.fakes.github import bare
from tests.fakes.github.exchange import Answer
from tests.fakes.github.faults import Interruption, Moment, When
from tests.fakes.github.state import Delivery
from tests.fakes.gitlab.acts import accounts, projects
from tests.fakes.gitlab.acts.uploads import upload
from tests.fakes.gitlab.dispatch import RequestSeen
from tests.fakes.gitlab.oauth import add_client
from tests.fakes.gitlab.people import ISSUE, MERGE_REQUEST, People
from tests.fakes.gitlab.sign_in_state import Client
from tests.fakes.gitlab.site import Place, Site
from tests.fakes.gitlab.state import Level, PushRules, Visibility

__all__ = ["ISSUE", "MERGE_REQUEST", "FakeGitLab"]

SYSTEM_CLOCK = SystemClock()
RANDOM_IDS = RandomIds()
ROOT = Place()
SERVER_ERROR = {"message": "500 Internal Server Error"}


class FakeGitLab(People):
    """Answers while its `with` block runs; everything it holds is gone afterwards.

    What people do by its methods is announced by webhooks in `deliveries`, which
    `deliver` carries to their receiver. Where `PATCHWRIGHT_CORPUS` is set, all answers
    are held against recorded ones.
    """

    def __init__(
        self,
        place: Place = ROOT,
        *,
        clock: Clock = SYSTEM_CLOCK,
        ids: Ids = RANDOM_IDS,
    ) -> None:
        self._site = Site(place, clock, ids)
        super().__init__(self._site.world)
        self.base_url = self.world.base_url
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

    def limit_next(
        self, method: str, path_regex: str, *, retry_after: int = 1, times: int = 1
    ) -> None:
        """Let the next matching requests be too many.

        https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/
        """
        reset = int(self.world.clock.now().timestamp()) + retry_after
        headers = {
            "Content-Type": "text/plain",
            "Retry-After": str(retry_after),
            "RateLimit-Remaining": "0",
            "RateLimit-Reset": str(reset),
        }
        answer = Answer(status=429, headers=headers, body=b"Retry later\n")
        self._site.faults.add(
            method, path_regex, answer, times=times, when=When.INSTEAD
        )

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

    def add_user(
        self,
        username: str,
        *,
        bot: bool = False,
        admin: bool = False,
        external: bool = False,
        scopes: Sequence[str] = ("api",),
        expires_on: date | None = None,
    ) -> str:
        """Make an account and return a personal access token of it."""
        with self.world.lock:
            user = accounts.add_user(
                self.world,
                username,
                is_bot=bot,
                is_admin=admin,
                is_external=external,
            )
            token = accounts.mint_token(
                self.world, user, scopes=scopes, expires_on=expires_on
            )
            return token.value

    def block(self, username: str) -> None:
        with self.world.lock:
            accounts.block(self.world, username)

    def add_project_token(
        self,
        path: str,
        level: Level = Level.DEVELOPER,
        *,
        scopes: Sequence[str] = ("api",),
        name: str = "patchwright",
    ) -> tuple[str, str]:
        """Return a project access token, and the name of the bot that it is for."""
        with self.world.lock:
            project = self.world.project(path)
            made = accounts.mint_project_token(self.world, project, level, scopes, name)
            return made.value, self.world.users[made.user].username

    def add_group_token(
        self,
        path: str,
        level: Level = Level.DEVELOPER,
        *,
        scopes: Sequence[str] = ("api",),
        name: str = "patchwright",
    ) -> tuple[str, str]:
        """Return a group access token, and the name of the bot that it is for."""
        with self.world.lock:
            made = accounts.mint_group_token(self.world, path, level, scopes, name)
            return made.value, self.world.users[made.user].username

    def revoke(self, token: str) -> None:
        with self.world.lock:
            accounts.revoke(self.world, token)

    def add_client(
        self, redirect_uris: Iterable[str], scopes: Iterable[str] = ("api", "read_user")
    ) -> Client:
        """Register an application that people can sign in to."""
        with self.world.lock:
            return add_client(self.world, tuple(redirect_uris), tuple(scopes))

    def sit_down(self, username: str) -> None:
        """Let that person use the browser; '' says no to every application."""
        self.world.sign_ins.at_the_browser = username

    def add_project(
        self,
        path: str,
        *,
        default_branch: str = "main",
        visibility: Visibility = Visibility.PUBLIC,
        files: Mapping[str, bare.Content] | None = None,
        from_path: Path | None = None,
    ) -> int:
        """Make a project, with its groups, and return its number."""
        found = bare.read_folder(from_path) if from_path else {}
        with self.world.lock:
            made = projects.add_project(
                self.world,
                path,
                default_branch=default_branch,
                visibility=visibility,
                files={**found, **(files or {})},
            )
            return made.id

    def commit_files(
        self,
        path: str,
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
            project = self.world.project(path)
            by = self.world.user(author).id if author else project.creator
            return projects.commit(
                self.world, project, branch, files, message=message, actor=by
            )

    def delete_branch(self, path: str, branch: str, actor: str) -> None:
        with self.world.lock:
            who = self.world.user(actor).id
            project = self.world.project(path)
            projects.delete_branch(self.world, project, branch, actor=who)

    def fork(self, path: str, namespace: str) -> str:
        """Fork it into another namespace and return the fork's path."""
        with self.world.lock:
            project = self.world.project(path)
            return projects.fork(self.world, project, namespace).path

    def move_project(self, path: str, new_path: str, actor: str) -> None:
        """Rename it, or transfer it where the namespace is another one."""
        with self.world.lock:
            who = self.world.user(actor).id
            projects.move(self.world, self.world.project(path), new_path, actor=who)

    def archive(self, path: str) -> None:
        with self.world.lock:
            project = self.world.project(path)
            self.world.put_project(replace(project, archived=True))

    def grant(self, path: str, username: str, level: Level) -> None:
        """Make somebody a member of a project, or of a group and all in it."""
        with self.world.lock:
            project = self.world.find_project(path)
            if project is None:
                accounts.join_group(self.world, path, username, level)
            else:
                accounts.join_project(self.world, project, username, level)

    def share(self, path: str, group: str, level: Level) -> None:
        """Let the members of a group into a project, at most at this level."""
        with self.world.lock:
            accounts.share(self.world, self.world.project(path), group, level)

    def protect_branch(
        self, path: str, branch: str, push: Level = Level.MAINTAINER
    ) -> None:
        with self.world.lock:
            projects.protect(self.world, self.world.project(path), branch, push)

    def set_rules(self, path: str, rules: PushRules) -> None:
        """Set what each push to the project must keep to."""
        with self.world.lock:
            project = self.world.project(path)
            self.world.put_project(replace(project, rules=rules))

    def require_approvals(self, path: str, number: int) -> None:
        with self.world.lock:
            project = self.world.project(path)
            self.world.put_project(replace(project, approvals_required=number))

    def add_hook(
        self, path: str, token: str, *, signing_token: str = "", url: str = ""
    ) -> int:
        """Add a webhook that listens to everything in a project."""
        with self.world.lock:
            project = self.world.project(path)
            made = projects.add_hook(
                self.world, project, token, url=url, signing_token=signing_token
            )
            return made.id

    def add_system_hook(self, token: str, *, url: str = "") -> int:
        """Add a webhook of the whole server, which hears of renamed projects."""
        with self.world.lock:
            return projects.add_hook(self.world, None, token, url=url).id

    def upload(self, path: str, name: str, data: bytes) -> str:
        """Upload a file and return the address that GitLab puts into the text."""
        with self.world.lock:
            made = upload(self.world, self.world.project(path), name, data)
            return f"/uploads/{made.secret}/{made.name}"

    def git_folder(self, path: str) -> Path:
        """Return the bare repository, for a look with git itself."""
        return self.world.project(path).git
