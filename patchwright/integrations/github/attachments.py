"""Fetch the files that posts link to, private ones too.

What was uploaded to a private repository answers 404 to most tokens; the rendered text
of its post has an address of it that is signed, and good for some minutes.
https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types
"""

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import requests
from github.Repository import Repository
from pydantic import BaseModel, SecretStr

from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.integrations.github.client import GitHubClient
from patchwright.integrations.github.connection import (
    TIMEOUT_S,
    USER_AGENT,
    Addresses,
    GitHubConnection,
    without_credentials,
)
from patchwright.integrations.github.threads import OPENING, fetch_html
from patchwright.integrations.github.webhooks.payloads import (
    Text,
    review_comment_of,
    review_of,
)
from patchwright.integrations.http.limits import CHUNK_BYTES, read_limited

MAX_REDIRECTS = 3
RENDERED = "application/vnd.github.full+json"
_UPLOAD = re.compile(r"/(?:user-attachments/)?assets/(?:\d+/)?(?P<id>[0-9a-f-]{36})\b")
_SOURCE = re.compile(r"<img\b[^>]*?\ssrc=\"([^\"]+)\"")
# Where github.com keeps what people upload, and whereto it sends those who ask.
_GITHUBS_OWN = re.compile(
    r"(?:[a-z0-9-]+\.)?githubusercontent\.com"
    r"|github-production-user-asset-[0-9a-f]+\.s3\.amazonaws\.com"
)
_OK, _REDIRECTED, _BROKEN = 200, 300, 400
_MISSING = frozenset({401, 403, 404, 410})


class _Rendered(BaseModel):
    body_html: Text = ""


def fetch_attachment(
    api: GitHubClient, ref: ForgeThread, url: str, max_bytes: int, post_id: str = ""
) -> bytes:
    """Return the file. Raises a `ServiceError` of a sentence that says why not."""
    check_host(api.addresses, url)
    signed = _find_signed(api, ref, url, post_id)
    if signed is not None:
        check_host(api.addresses, signed)
        return _download(api.connection, signed, None, max_bytes)
    is_ours = _belongs_to(api.addresses, url, ref)
    token = api.tokens.fetch(ref.repo) if is_ours else None
    return _download(api.connection, url, token, max_bytes)


def check_host(addresses: Addresses, url: str) -> None:
    """Raise `InvalidRequestError` for what is not on one of this GitHub's hosts.

    An address in a post may name any host, ones that only we can reach too.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    if _is_own(addresses, url):
        return
    web = urlsplit(addresses.web_url)
    host = parts.hostname or ""
    # Only the host: no port, no name and no password.
    is_plain = parts.netloc.lower() == host
    if parts.scheme == "https" and is_plain and _is_known(host, web.hostname or ""):
        return
    raise InvalidRequestError(f"{host or 'it'} is not a host of this GitHub")


def _is_own(addresses: Addresses, url: str) -> bool:
    parts, web = urlsplit(url), urlsplit(addresses.web_url)
    return (parts.scheme, parts.netloc) == (web.scheme, web.netloc)


def _belongs_to(addresses: Addresses, url: str, ref: ForgeThread) -> bool:
    """Tell whether our token may help: for uploads, and files of the repository.

    A stranger could name a file of any other repository that we may read.
    """
    path = urlsplit(url).path
    is_file = path.lower().startswith(f"/{ref.repo.full_name.lower()}/")
    is_climbing = ".." in path.split("/")
    is_upload = _UPLOAD.fullmatch(path) or path.startswith("/storage/user/")
    may = bool(is_upload) or is_file
    return _is_own(addresses, url) and may and not is_climbing


def _is_known(host: str, web_host: str) -> bool:
    if web_host == "github.com":
        return _GITHUBS_OWN.fullmatch(host) is not None
    # An Enterprise Server with subdomains has its files there.
    # https://docs.github.com/en/enterprise-server@latest/admin/configuring-settings/hardening-security-for-your-enterprise/enabling-subdomain-isolation
    return host in (f"media.{web_host}", f"raw.{web_host}", f"assets.{web_host}")


def _find_signed(
    api: GitHubClient, ref: ForgeThread, url: str, post_id: str
) -> str | None:
    """Return the signed address of an upload, as the rendered post has it."""
    upload = _UPLOAD.search(urlsplit(url).path)
    if upload is None:
        return None
    html = api.ask(ref.repo, lambda repo: _fetch_html(repo, ref, post_id))
    sources = (unescape(found) for found in _SOURCE.findall(html))
    return next((one for one in sources if upload["id"] in one and "?" in one), None)


def _fetch_html(repo: Repository, ref: ForgeThread, post_id: str) -> str:
    if ref.kind is ThreadKind.DISCUSSION:
        return fetch_html(repo, ref, "" if post_id == OPENING else post_id)
    _, answer = repo.requester.requestJsonAndCheck(
        "GET",
        f"{repo.url}{_address_of(ref, post_id)}",
        headers={"Accept": RENDERED},
    )
    return _Rendered.model_validate(answer).body_html


def _address_of(ref: ForgeThread, post_id: str) -> str:
    if (comment := review_comment_of(post_id)) is not None:
        return f"/pulls/comments/{comment}"
    if (review := review_of(post_id)) is not None:
        return f"/pulls/{ref.number}/reviews/{review}"
    if post_id.isdecimal():
        return f"/issues/comments/{post_id}"
    return f"/issues/{ref.number}"


def _download(
    connection: GitHubConnection, url: str, token: SecretStr | None, max_bytes: int
) -> bytes:
    headers = {"User-Agent": USER_AGENT}
    if token is not None:
        headers["Authorization"] = f"token {token.get_secret_value()}"
    try:
        with requests.Session() as session:
            session.auth = without_credentials
            return _follow(connection, session, (url, headers), max_bytes)
    except requests.RequestException as error:
        kind = type(error).__name__
        raise ServiceUnavailableError(f"GitHub did not answer ({kind})") from error


def _follow(
    connection: GitHubConnection,
    session: requests.Session,
    request: tuple[str, dict[str, str]],
    max_bytes: int,
) -> bytes:
    """Follow redirects to known hosts; none of them gets the token."""
    url, headers = request
    for _ in range(MAX_REDIRECTS):
        with session.get(
            url,
            headers=headers,
            timeout=TIMEOUT_S,
            stream=True,
            allow_redirects=False,
            # Of each request: a session's own yields to REQUESTS_CA_BUNDLE.
            verify=connection.verify,
        ) as answer:
            if not _REDIRECTED <= answer.status_code < _BROKEN:
                return _read(answer, max_bytes)
            url = _joined(url, answer.headers.get("Location", ""))
        check_host(connection.addresses, url)
        headers = {"User-Agent": USER_AGENT}
    raise ServiceUnavailableError("GitHub redirects too often")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise InvalidRequestError("the redirect has no address") from error


def _read(answer: requests.Response, max_bytes: int) -> bytes:
    status = answer.status_code
    if status in _MISSING:
        raise NotFoundError(f"GitHub answered {status}")
    if status != _OK:
        raise ServiceUnavailableError(f"GitHub answered {status}")
    return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)
