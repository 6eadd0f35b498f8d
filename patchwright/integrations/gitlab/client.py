"""Ask GitLab about one project, with errors of ours, wherever the project is now."""

from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import TypeVar

from gitlab import Gitlab
from gitlab.v4.objects import Project

from patchwright.core.system.clock import Clock
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab.auth import GitLabToken, OwnUser
from patchwright.integrations.gitlab.connection import GitLabAddresses, GitLabConnection
from patchwright.integrations.gitlab.errors import ProjectMovedError, translate_errors
from patchwright.integrations.http.limits import retry_after_limits

T = TypeVar("T")


class GitLabClient:
    """Holds one client for each project; any thread may ask."""

    def __init__(
        self, *, connection: GitLabConnection, token: GitLabToken, clock: Clock
    ) -> None:
        self._connection = connection
        self._token = token
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._projects: dict[str, int] = {}

    @property
    def connection(self) -> GitLabConnection:
        return self._connection

    @property
    def addresses(self) -> GitLabAddresses:
        return self._connection.addresses

    @property
    def token(self) -> GitLabToken:
        return self._token

    @property
    def clock(self) -> Clock:
        return self._clock

    @cached_property
    def own_user(self) -> OwnUser:
        """The user under whom our texts appear; raises a `ServiceError`."""
        return retry_after_limits(self._token.fetch_user, self._clock)

    @property
    def own_login(self) -> str:
        return self.own_user.username

    def ask(self, repo: RepoRef, question: Callable[[Project], T]) -> T:
        """Answer a question about a project, of which nothing was fetched yet.

        A limit is waited for, if that is not long. A question may so be put again from
        its beginning: of several writes, the first ones must be harmless to repeat.
        Within it, too, GitLab's refusals are the errors of `core.types.errors`.
        """
        return retry_after_limits(lambda: self.ask_now(repo, question), self._clock)

    def ask_now(self, repo: RepoRef, question: Callable[[Project], T]) -> T:
        """Answer as `ask` does, but wait for nothing."""
        name = repo.full_name
        line = self._line(name)
        with line.lock, translate_errors():
            found = self._projects.get(name, name)
            try:
                return question(line.client.projects.get(found, lazy=True))
            except ProjectMovedError:
                # Reads are sent on from an old name. Writes are refused, and nothing
                # was done: they count by the number, which stays.
                number = line.client.projects.get(name).id
                self._projects[name] = number
                return question(line.client.projects.get(number, lazy=True))

    def ask_server(self, question: Callable[[Gitlab], T]) -> T:
        """Answer a question about no project, such as who somebody is."""

        def ask_once() -> T:
            line = self._line("")
            with line.lock, translate_errors():
                return question(line.client)

        return retry_after_limits(ask_once, self._clock)

    def close(self) -> None:
        for line in self._lines.values():
            line.client.session.close()

    def _line(self, name: str) -> "_Line":
        known = self._lines.get(name)
        if known is not None:
            return known
        token = self._token.secret.get_secret_value()
        return self._lines.setdefault(name, _Line(self._connection.open_client(token)))


class _Line:
    """A client, which serves one thread at a time."""

    def __init__(self, client: Gitlab) -> None:
        self.lock = Lock()
        self.client = client
