"""Find lines by a regular expression, in a process of its own.

An expression can take for ever on an unlucky line; only a process can be stopped then.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from itertools import islice
from typing import Iterator

from patchwright.sandbox.action_server.command import SendReply, Cancel
from patchwright.sandbox.action_server.errand import OneOffJob
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.loop import EventLoop, exit_code
from patchwright.sandbox.action_server.places import WorkspacePaths
from patchwright.sandbox.action_server.wire import Reply, ServerRequest, error

MAX_MATCHES = 200
MAX_LINE_CHARACTERS = 300
MAX_FILE_BYTES = 5 << 20
SEARCH_LIMIT_S = 5.0
SAMPLE = 1024
_SEARCH_FAILED = error("internal", "the search failed; use a command such as grep instead")


def search_files(
    loop: EventLoop, places: WorkspacePaths, request: ServerRequest, answer: SendReply
) -> Cancel:
    """Answer with matching lines, or with an error once the time limit has passed."""
    try:
        expression = re.compile(request.text("pattern"))
    except re.error as wrong:
        raise ActionError(
            "bad-pattern", f"not a regular expression: {wrong}"
        ) from wrong
    root = places.in_repo(request.text("path", "."))
    if not os.path.exists(root):
        raise ActionError("not-found", f"there is no {places.shown(root)}")
    read_end, write_end = os.pipe()
    try:
        pid = os.fork()
    except OSError:  # too many processes
        os.close(read_end)
        os.close(write_end)
        raise
    if pid == 0:
        os.close(read_end)
        _search_and_exit(
            places.repo, root, request.text("glob", ""), expression, write_end
        )
    os.close(write_end)
    text = f"the search took more than {SEARCH_LIMIT_S:g} s; narrow path or pattern"
    errand = OneOffJob(loop, pid, read_end, answer, _SEARCH_FAILED)
    errand.limit(SEARCH_LIMIT_S, error("timed-out", text))
    return errand.cancel


def _search_and_exit(
    repo: str, root: str, glob: str, expression: re.Pattern[str], write_end: int
) -> None:
    """Do the work of the forked process; it never returns."""
    try:
        found = _find_matches(repo, root, glob, expression)
        matches = list(islice(found, MAX_MATCHES + 1))
        result: Reply = {
            "kind": "search_result",
            "text": "\n".join(matches[:MAX_MATCHES]),
            "matches": min(len(matches), MAX_MATCHES),
            "truncated": len(matches) > MAX_MATCHES,
        }
        with os.fdopen(write_end, "w", encoding="utf-8", errors="replace") as file:
            json.dump(result, file, ensure_ascii=False)
    finally:
        os._exit(0)


def _find_matches(
    repo: str, root: str, glob: str, expression: re.Pattern[str]
) -> Iterator[str]:
    for path in _list_files(repo, root):
        name = os.path.relpath(path, repo)
        if glob and not _matches_glob(name, glob):
            continue
        for number, line in enumerate(_read_lines(path), 1):
            if expression.search(line):
                yield f"{name}:{number}: {line[:MAX_LINE_CHARACTERS]}"


def _matches_glob(name: str, glob: str) -> bool:
    short = glob[3:] if glob.startswith("**/") else glob
    return any(
        fnmatch.fnmatchcase(candidate, pattern)
        for candidate in (name, os.path.basename(name))
        for pattern in (glob, short)
    )


def _read_lines(path: str) -> list[str]:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE_BYTES:
            return []
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return []
    if b"\0" in data[:SAMPLE]:
        return []
    return data.decode("utf-8", "replace").splitlines()


def _list_files(repo: str, root: str) -> list[str]:
    if os.path.isfile(root):
        return [root]
    listed = _ask_git(repo, root)
    return sorted(_walk(root)) if listed is None else listed


def _ask_git(repo: str, root: str) -> list[str] | None:
    """List what git does not ignore, or return None where git cannot tell."""
    question = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    read_end, write_end = os.pipe()
    try:
        pid = os.posix_spawnp(
            "git",
            ["git", "-C", repo, *question, "--", root],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, write_end, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
    except OSError:
        return None
    os.close(write_end)
    with open(read_end, "rb") as file:
        answer = file.read()
    if exit_code(os.waitpid(pid, 0)[1]) != 0:
        return None
    names = sorted({os.fsdecode(name) for name in answer.split(b"\0") if name})
    return [os.path.join(repo, name) for name in names]


def _walk(root: str) -> Iterator[str]:
    # Not `os.walk`: before Python 3.12 it goes no deeper than calls may be nested.
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif entry.name != ".git":
                waiting.append(entry.path)
