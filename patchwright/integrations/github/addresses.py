"""Where a GitHub is: every link and clone URL follows from the configured hosts."""

from urllib.parse import urlsplit

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
