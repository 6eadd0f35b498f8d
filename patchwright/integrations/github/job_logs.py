"""Fetch the end of a job's log from where GitHub keeps it."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import requests
from github import GithubException, UnknownObjectException
from github.Repository import Repository

from patchwright.integrations.github.connection import (
    TIMEOUT_S,
    USER_AGENT,
    without_credentials,
)

MAX_TAIL_CHARS: Final = 10_000
_MAX_TAIL_BYTES: Final = 256 * 1024
_MAX_BYTES: Final = 100_000_000
_CHUNK: Final = 64 * 1024
_OK, _FORBIDDEN, _GONE = 200, 403, 410

# Each line begins with the time it was printed at.
_TIME = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z ?", re.MULTILINE)
# https://ecma-international.org/publications-and-standards/standards/ecma-48/
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-_]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# What comes after the last of these is the runner tidying up.
_ERROR = re.compile(r"^##\[error\].*$", re.MULTILINE)


def fetch_log_tail(repo: Repository, job_id: int) -> str:
    """Return the end of a job's log, or an empty text where it is not to be had.

    A log is kept for some months only, and an App may lack the right to it.
    """
    address = _find_address(repo, job_id)
    if not address:
        return ""
    with requests.Session() as session:
        # A .netrc file must not stand in for the token that we leave out.
        session.auth = without_credentials
        verify: str | bool = repo.requester.kwargs["verify"]
        return clean_log(_download_end(session, address, verify=verify))


def clean_log(raw: bytes) -> str:
    """Return what a job printed up to its last error, without times and colours."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    plain = _CONTROL.sub("", _SEQUENCE.sub("", _TIME.sub("", text)))
    *_, last = _ends_of_errors(plain)
    return _last_lines(plain[:last].strip("\n"))


def _ends_of_errors(text: str) -> Iterator[int]:
    yield len(text)
    for error in _ERROR.finditer(text):
        yield error.end()


def _last_lines(text: str) -> str:
    if len(text) <= MAX_TAIL_CHARS:
        return text
    end = text[-MAX_TAIL_CHARS:]
    _, broken, rest = end.partition("\n")
    return rest if broken else end


def _find_address(repo: Repository, job_id: int) -> str:
    """Return where the log lies: an address that is signed and good for a minute.

    https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
    """
    try:
        headers, _ = repo.requester.requestJsonAndCheck(
            "GET", f"{repo.url}/actions/jobs/{job_id}/logs"
        )
    except UnknownObjectException:
        return ""
    except GithubException as error:
        if error.status not in (_FORBIDDEN, _GONE):
            raise
        return ""
    address = str(headers.get("location", ""))
    return address if _is_safe(address, repo.requester.base_url) else ""


def _is_safe(address: str, api_url: str) -> bool:
    """Tell whether to go there: nothing readable on the way, or the same server."""
    there, here = urlsplit(address), urlsplit(api_url)
    same = (there.scheme, there.netloc) == (here.scheme, here.netloc)
    return there.scheme == "https" or same


def _download_end(
    session: requests.Session, address: str, *, verify: str | bool
) -> bytes:
    """Read it without our token, which is none of that store's business."""
    try:
        return _read_end(session, address, verify=verify)
    except requests.RequestException:
        return b""


def _read_end(session: requests.Session, address: str, *, verify: str | bool) -> bytes:
    headers = {"User-Agent": USER_AGENT}
    with session.get(
        address,
        headers=headers,
        timeout=TIMEOUT_S,
        stream=True,
        allow_redirects=False,
        # Of each request: a session's own yields to REQUESTS_CA_BUNDLE.
        verify=verify,
    ) as answer:
        if answer.status_code != _OK:
            return b""
        end, read = bytearray(), 0
        for chunk in answer.iter_content(_CHUNK):
            read += len(chunk)
            if read > _MAX_BYTES:
                return b""
            end += chunk
            del end[:-_MAX_TAIL_BYTES]
        return bytes(end)
