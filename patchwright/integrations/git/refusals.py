"""What a remote's refusal means, read from what git printed about it."""

import re
from collections.abc import Iterator

from patchwright.core.errors import (
    AuthenticationError,
    BranchBlockedError,
    BranchMovedError,
    GitError,
    NotFoundError,
    ObjectFormatError,
    PatchwrightError,
    PermissionDeniedError,
    PushRefusedError,
    ServiceUnavailableError,
)
from patchwright.integrations.git.command import TIMED_OUT, GitResult

# Git has no codes for these; the words below are those of its C locale, in
# remote-curl.c, http.c, credential.c and connect.c, and hold since Git 2.30.
_UNANSWERED = (
    r"Could not resolve|Failed to connect|Connection (refused|reset|timed out)"
    r"|error: (429|5\d\d)|RPC failed|early EOF|hung up|[Tt]imed? ?out|too slow"
    r"|Empty reply|TLS|SSL"
)
_MEANINGS: tuple[tuple[str, type[PatchwrightError], str], ...] = (
    (
        r"Authentication failed|could not read (Username|Password)|error: 401",
        AuthenticationError,
        "the credential is not accepted",
    ),
    (
        r"error: 403|Permission to \S+ denied|Write access to repository not granted",
        PermissionDeniedError,
        "the credential does not allow this",
    ),
    (
        r"mismatched algorithms",
        ObjectFormatError,
        "the repository names its objects in another format",
    ),
    (
        r"couldn't find remote ref",
        NotFoundError,
        "the remote repository has no such branch",
    ),
    (
        r"[Rr]epository .*not found|error: 404|does not appear to be a git repository",
        NotFoundError,
        "there is no such repository, or it is hidden from us",
    ),
    (_UNANSWERED, ServiceUnavailableError, "the remote did not answer as it should"),
)
_NO_REASON = re.compile(r"hook declined|declined due to repository rule violations")
# One branch cannot be a folder of another: the words of git, and those of GitHub.
_BLOCKED = re.compile(
    r"exists; cannot create|refname conflict|directory[/ ]file conflict"
)
# https://git-scm.com/docs/git-receive-pack
_PROGRESS = re.compile(r"(?:Resolving deltas|Counting|Compressing|Checking)\b.*: +\d+%")
_REJECTED = re.compile(r"^!\t[^\t]*\t\[(?P<by>(remote )?)rejected\] \((?P<why>.*)\)$")


def map_remote_error(done: GitResult) -> PatchwrightError:
    """Turn a failed fetch or push into an error that says what its catcher can do."""
    if done.exit_code == TIMED_OUT:
        return ServiceUnavailableError(f"the remote is too slow: {done.error_output}")
    for pattern, error, meaning in _MEANINGS:
        if re.search(pattern, done.error_output):
            return error(f"{meaning}: {done.error_summary}")
    return GitError(f"git failed: {done.error_summary}")


def map_push_error(done: GitResult, branch: str) -> PatchwrightError:
    """Read the report of `git push --porcelain`, and fall back on its complaints."""
    for line in done.output.decode("utf-8", "replace").splitlines():
        found = _REJECTED.match(line)
        if found is None:
            continue
        if not found["by"]:
            return BranchMovedError(
                f"the branch {branch} is not where it was left ({found['why']})"
            )
        words = "\n".join(_reasons(done.error_output, found["why"]))
        blocked = _BLOCKED.search(f"{done.error_output}\n{found['why']}")
        error = BranchBlockedError if blocked else PushRefusedError
        return error(f"the remote refuses to update {branch}: {words}")
    return map_remote_error(done)


def _reasons(complaint: str, why: str) -> Iterator[str]:
    """Yield what the remote said and what it gives as its reason.

    That is often no more than the name of the hook that said it.
    """
    lines = (line.strip() for line in complaint.splitlines())
    said = [line.removeprefix("remote:").strip() for line in lines if "remote:" in line]
    words = [line for line in said if line and not _PROGRESS.match(line)]
    yield from words
    if not words or not _NO_REASON.search(why):
        yield why
