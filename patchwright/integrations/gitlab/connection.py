"""The address of a GitLab, and the set-up of python-gitlab for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urljoin

from gitlab import Gitlab
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.gitlab.errors import check_answer, outside_error
from patchwright.integrations.gitlab.settings import API_PATH

TIMEOUT_S: Final = 15
LARGEST_PAGE: Final = 100
USER_AGENT: Final = "patchwright"
_MOST_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_READS: Final = frozenset({"GET", "HEAD"})

# A read may be asked again. A write may have been done though no answer came: whether
# to repeat it is for those to say who can look first.
_RETRY_OF_READS: Final = Retry(
    total=3,
    backoff_factor=0.2,
    allowed_methods=_READS,
    status_forcelist=(500, 502, 503, 504),
    respect_retry_after_header=False,
    raise_on_status=False,
)


class GitLabAddresses(Value):
    """The root of everything that a GitLab has, without a slash at the end."""

    base_url: str

    @property
    def api_url(self) -> str:
        return f"{self.base_url}{API_PATH}"

    def clone_url(self, full_name: str) -> str:
        return f"{self.base_url}/{full_name}.git"

    def repository_url(self, full_name: str) -> str:
        return f"{self.base_url}/{full_name}"

    def merge_request_url(self, full_name: str, number: int) -> str:
        return f"{self.base_url}/{full_name}/-/merge_requests/{number}"

    def issue_url(self, full_name: str, number: int) -> str:
        return f"{self.base_url}/{full_name}/-/issues/{number}"

    def thread_url(self, ref: ForgeThread) -> str:
        address = self.merge_request_url if ref.kind.is_pull else self.issue_url
        return address(ref.repo.full_name, ref.number)

    def project_url(self, full_name: str) -> str:
        """Return the address of a project in the API."""
        return f"{self.api_url}/projects/{quote(full_name, safe='')}"


@dataclass(frozen=True, slots=True)
class GitLabConnection:
    """Opens clients.

    `ca_bundle` is a file with the authorities to trust, in place of the usual ones, and
    `now` tells the time, from which waits are counted.
    """

    addresses: GitLabAddresses
    now: Callable[[], datetime]
    ca_bundle: str = ""

    @property
    def verify(self) -> str | bool:
        """Whom to trust, in the words of `requests`."""
        return self.ca_bundle or True

    def open_client(self, token: str) -> Gitlab:
        """Return a client; without a token it asks as nobody.

        Its calls raise the errors of `core.types.errors` for what GitLab refuses, and
        those of `requests` where nothing is answered. Any kind of token may be sent as
        that of a sign-in.
        https://docs.gitlab.com/api/rest/authentication/
        """
        return Gitlab(
            self.addresses.base_url,
            oauth_token=token or None,
            ssl_verify=self.verify,
            timeout=TIMEOUT_S,
            per_page=LARGEST_PAGE,
            user_agent=USER_AGENT,
            # What a server calls itself is often not how it is reached.
            keep_base_url=True,
            session=self._open_session(),
        )

    def _open_session(self) -> "ApiSession":
        """Return a session that asks reads again; without credentials of its own."""
        session = ApiSession(self.addresses, self.now)
        session.verify = self.verify
        session.headers["User-Agent"] = USER_AGENT
        session.auth = without_credentials
        for scheme in ("https://", "http://"):
            session.mount(scheme, HTTPAdapter(max_retries=_RETRY_OF_READS))
        return session


def without_credentials(request: PreparedRequest) -> PreparedRequest:
    """Stand in for credentials, which requests would else take from a .netrc file."""
    return request


class ApiSession(Session):
    """Sends the requests of python-gitlab, and lets only good answers through.

    python-gitlab would not tell how long to wait, nor where a redirect leads, and would
    send the token along wherever that is.
    """

    def __init__(self, addresses: GitLabAddresses, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._addresses = addresses
        self._now = now

    def request(  # type: ignore[override] # by name, as python-gitlab calls it
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        stream: bool = False,
        **options: Any,  # noqa: ANN401 - passed on
    ) -> Response:
        """Return an answer of GitLab's; raises the errors of `core.types.errors`."""
        options |= {"allow_redirects": False, "stream": stream}
        answer = super().request(method, url, params=params, **options)
        for _ in range(_MOST_REDIRECTS):
            if answer.status_code not in _REDIRECTS:
                break
            # What was asked for stands in the new address as well.
            target = self._find_target(method, answer)
            answer = super().request(method, target, **options)
        check_answer(answer, self._now(), is_file=stream)
        return answer

    def _find_target(self, method: str, answer: Response) -> str:
        """Return where a renamed project is now; raises `ServiceError`.

        https://docs.gitlab.com/api/rest/#redirects
        """
        target = urljoin(answer.url, answer.headers.get("location", ""))
        answer.close()
        is_read = method.upper() in _READS
        if not is_read or not target.startswith(f"{self._addresses.api_url}/"):
            raise outside_error(self._addresses.base_url, target)
        return target
