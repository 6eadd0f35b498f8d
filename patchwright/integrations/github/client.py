"""Ask GitHub about one repository, with tokens that work, errors of ours, and ETags."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Final, TypeVar
from urllib.parse import urlencode

from github import Auth, Github
from github.Repository import Repository
from github.Requester import Requester
from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import AuthenticationError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.auth import RepositoryTokens
from patchwright.integrations.github.connection import Addresses, GitHubConnection
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.http.limits import retry_after_limits

MAX_KEPT: Final = 64
_NOT_MODIFIED: Final = 304
_REFUSED: Final = 400


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    tag: str
    answer: object


class ETagCache:
    """The newest answers with their ETags, kept for this process; any thread may ask.

    GitHub checks each time whether we may still read it.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _CachedAnswer] = OrderedDict()
        self._lock = Lock()

    def fetch(
        self,
        requester: Requester,
        address: str,
        parameters: Mapping[str, str] | None = None,
    ) -> object:
        """Return the JSON at an address; raises the errors of PyGithub."""
        wanted = dict(parameters or {})
        key = f"{address}?{urlencode(wanted)}"
        known = self._find(key)
        headers = {"If-None-Match": known.tag} if known else {}
        status, response_headers, text = requester.requestJson(
            "GET", address, wanted, headers
        )
        if known is not None and status == _NOT_MODIFIED:
            return known.answer
        answer: object = _parse(text)
        if status >= _REFUSED:
            refusal = answer if isinstance(answer, dict) else {}
            raise requester.createException(status, response_headers, refusal)
        if tag := response_headers.get("etag"):
            self._keep(key, _CachedAnswer(tag, answer))
        return answer

    def _find(self, key: str) -> _CachedAnswer | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: str, cached_answer: _CachedAnswer) -> None:
        with self._lock:
            self._kept[key] = cached_answer
            self._kept.move_to_end(key)
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # A proxy in between answers in a form of its own.
        return None


T = TypeVar("T")


class GitHubClient:
    """Holds one client for each repository; any thread may ask."""

    def __init__(
        self, *, connection: GitHubConnection, tokens: RepositoryTokens, clock: Clock
    ) -> None:
        self._connection = connection
        self._tokens = tokens
        self._clock = clock
        self._clients: dict[str, _RepositoryClient] = {}
        self._etag_cache = ETagCache()

    @property
    def connection(self) -> GitHubConnection:
        return self._connection

    @property
    def addresses(self) -> Addresses:
        return self._connection.addresses

    @property
    def tokens(self) -> RepositoryTokens:
        return self._tokens

    @cached_property
    def own_login(self) -> str:
        """The login our texts appear under, or '' if the token cannot say."""
        return self._tokens.fetch_login()

    @property
    def etag_cache(self) -> ETagCache:
        """What was read before, to be read again at no cost while it is the same."""
        return self._etag_cache

    def ask(self, repo: RepoRef, question: Callable[[Repository], T]) -> T:
        """Answer a question about a repository, of which nothing was fetched yet.

        A token that is not accepted is renewed once: it may have run out meanwhile. A
        limit is waited for, if that is not long. A question may so be put again from
        its beginning: of several writes, the first ones must be harmless to repeat.
        """
        return retry_after_limits(lambda: self.ask_now(repo, question), self._clock)

    def ask_now(self, repo: RepoRef, question: Callable[[Repository], T]) -> T:
        """Answer as `ask` does, but wait for nothing."""
        try:
            return self._ask_with(repo, self._tokens.fetch(repo), question)
        except AuthenticationError:
            return self._ask_with(repo, self._tokens.renew(repo), question)

    def close(self) -> None:
        for line in self._clients.values():
            line.close()
        self._tokens.close()

    def _ask_with(
        self, repo: RepoRef, token: SecretStr, question: Callable[[Repository], T]
    ) -> T:
        line = self._clients.setdefault(
            repo.full_name, _RepositoryClient(self._connection)
        )
        with line.lock, translate_errors(self._clock):
            return question(line.client(token).get_repo(repo.full_name))


class _RepositoryClient:
    """A client that is replaced when the token is another one.

    PyGithub's clients serve one thread at a time, and GitHub asks for one request at
    a time as well.
    """

    def __init__(self, connection: GitHubConnection) -> None:
        self.lock = Lock()
        self._connection = connection
        self._token = ""
        self._client: Github | None = None

    def client(self, token: SecretStr) -> Github:
        wanted = token.get_secret_value()
        if self._client is None or wanted != self._token:
            self.close()
            self._client = self._connection.open_client(Auth.Token(wanted))
            self._token = wanted
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
