"""The address of a GitHub, and the set-up of PyGithub for it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from github import Auth, Github, GithubIntegration
from requests import PreparedRequest
from urllib3 import Retry

from patchwright.core.types.base import Value
from patchwright.core.types.threads import ForgeThread, ThreadKind

PUBLIC_API = "https://api.github.com"


class Addresses(Value):
    """The roots of the REST API and of the web pages, without a slash at the end."""

    api_url: str
    web_url: str

    def clone_url(self, full_name: str) -> str:
        return f"{self.web_url}/{full_name}.git"

    def repository_url(self, full_name: str) -> str:
        return f"{self.web_url}/{full_name}"

    def pull_request_url(self, full_name: str, number: int) -> str:
        return f"{self.web_url}/{full_name}/pull/{number}"

    def thread_url(self, ref: ForgeThread) -> str:
        if ref.kind is ThreadKind.PULL_REQUEST:
            return self.pull_request_url(ref.repo.full_name, ref.number)
        kind = "discussions" if ref.kind is ThreadKind.DISCUSSION else "issues"
        return f"{self.web_url}/{ref.repo.full_name}/{kind}/{ref.number}"


def locate(api_url: str = PUBLIC_API, web_url: str = "") -> Addresses:
    """Complete the configuration: an empty `web_url` follows from `api_url`."""
    api = api_url.rstrip("/")
    return Addresses(api_url=api, web_url=web_url.rstrip("/") or _web_of(api))


def _web_of(api: str) -> str:
    # GitHub has its REST API on a host of its own; an Enterprise Server has it at
    # /api/v3 of the host that has its pages.
    # https://docs.github.com/en/enterprise-server@latest/rest/quickstart
    parts = urlsplit(api)
    if not parts.path:
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/api/v3')}"


TIMEOUT_S = 15
LARGEST_PAGE = 100
USER_AGENT = "patchwright"

# A read may be asked again. A write may have been done though no answer came: whether
# to repeat it is for those to say who can look first.
_RETRY_OF_READS = Retry(
    total=3,
    backoff_factor=0.2,
    allowed_methods=frozenset({"GET"}),
    status_forcelist=(500, 502, 503, 504),
    respect_retry_after_header=False,
    raise_on_status=False,
)


@dataclass(frozen=True, slots=True)
class GitHubConnection:
    """Opens clients. `pause_s` is the least time between two writes of one client.

    `ca_bundle` is a file with the authorities to trust, in place of the usual ones.
    GitHub wants a second between writes.
    https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """

    addresses: Addresses
    pause_s: float = 1.0
    ca_bundle: str = ""

    @property
    def verify(self) -> str | bool:
        """Whom to trust, in the words of `requests`."""
        return self.ca_bundle or True

    def open_client(self, auth: Auth.Auth | None) -> Github:
        """Return a client; without `auth` it asks as nobody."""
        return Github(
            auth=auth,
            base_url=self.addresses.api_url,
            timeout=TIMEOUT_S,
            user_agent=USER_AGENT,
            per_page=LARGEST_PAGE,
            verify=self.verify,
            retry=_RETRY_OF_READS,
            seconds_between_requests=0,
            seconds_between_writes=self.pause_s,
            lazy=True,
        )

    def open_app(self, auth: Auth.AppAuth) -> GithubIntegration:
        return GithubIntegration(
            auth=auth,
            base_url=self.addresses.api_url,
            timeout=TIMEOUT_S,
            user_agent=USER_AGENT,
            verify=self.verify,
            retry=_RETRY_OF_READS,
            seconds_between_requests=0,
            seconds_between_writes=0,
        )


def without_credentials(request: PreparedRequest) -> PreparedRequest:
    """Stand in for credentials, which requests would else take from a .netrc file."""
    return request
