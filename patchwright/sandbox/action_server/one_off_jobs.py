"""Search files and open pages, each in a process of its own."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import signal
from itertools import islice
from typing import Iterator

from patchwright.sandbox.action_server.child_process import (
    plan_inside_program,
    start_child,
)
from patchwright.sandbox.action_server.command import Cancel, SendReply
from patchwright.sandbox.action_server.event_loop import EventLoop, exit_code
from patchwright.sandbox.action_server.file_actions import split_lines
from patchwright.sandbox.action_server.processes import (
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.protocol import (
    ActionError,
    Config,
    Reply,
    ServerRequest,
    error,
)
from patchwright.sandbox.action_server.workspace_paths import WorkspacePaths

MAX_RESULT_BYTES = 4 << 20
_CANCELLED = error("called-off", "cancelled; it had no effect")


class OneOffJob:
    """Answers with what the process wrote, or with `too_late` after its time.

    Takes over the reading end of the pipe that the process writes to.
    """

    def __init__(
        self, loop: EventLoop, pid: int, read_end: int, answer: SendReply, failed: Reply
    ) -> None:
        self._loop = loop
        self._pid = pid
        self._read_end = read_end
        self._answer = answer
        self._failed = failed
        self._parts: list[bytes] = []
        self._size = 0
        self._is_over = False
        loop.watch_read(read_end, self._read)

    def limit(self, seconds: float, too_late: Reply) -> None:
        self._loop.after(seconds, lambda: self._stop(too_late))

    def cancel(self) -> None:
        self._stop(_CANCELLED)

    def _read(self) -> None:
        data = os.read(self._read_end, 65536)
        self._parts.append(data)
        self._size += len(data)
        if not data:
            self._end(self._result())
        elif self._size > MAX_RESULT_BYTES:
            self._stop(self._failed)

    def _result(self) -> Reply:
        try:
            result = json.loads(b"".join(self._parts))
        except ValueError:
            return self._failed
        return result if isinstance(result, dict) else self._failed

    def _stop(self, reply: Reply) -> None:
        if self._is_over:
            return
        for process in find_descendants(self._pid, list_processes()):
            send_signal(process.pid, signal.SIGKILL)
        send_signal(self._pid, signal.SIGKILL)
        self._end(reply)

    def _end(self, reply: Reply) -> None:
        self._is_over = True
        self._loop.unwatch(self._read_end)
        os.close(self._read_end)
        self._answer(reply)


BROWSE_LIMIT_S = 30.0
# What `patchwright.sandbox.inside.page` writes its result to.
RESULT_FD = 3
SCHEMES = ("http://", "https://")
_BROWSE_FAILED = error(
    "internal", "the page could not be read: the program for it failed"
)


def browse(
    loop: EventLoop, config: Config, request: ServerRequest, answer: SendReply
) -> Cancel:
    """Answer with a page as text, or with an error once the time limit has passed."""
    url = request.text("url").strip()
    if not url.lower().startswith(SCHEMES):
        text = f"{url!r} cannot be opened: only http:// and https:// addresses can"
        raise ActionError("bad-request", text)
    limit_s = request.seconds("timeout_s", BROWSE_LIMIT_S)
    launch = plan_inside_program("page", [url, f"{limit_s:g}"], config)
    read_end, write_end = os.pipe()
    try:
        wires = {0: 0, 1: 0, 2: 0, RESULT_FD: write_end}
        pid = start_child(launch, config, wires, os.path.join(config.workspace, "home"))
    except OSError:  # too many processes
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    job = OneOffJob(loop, pid, read_end, answer, _BROWSE_FAILED)
    too_late = f"{url} did not answer within {limit_s:g} s"
    job.limit(limit_s, error("timed-out", too_late))
    return job.cancel


MAX_MATCHES = 200
MAX_LINE_CHARACTERS = 300
MAX_FILE_BYTES = 5 << 20
MAX_NAMED_FILES = 3
SEARCH_LIMIT_S = 5.0
SAMPLE = 1024
_SEARCH_FAILED = error(
    "internal", "the search failed; use a command such as grep instead"
)


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
    job = OneOffJob(loop, pid, read_end, answer, _SEARCH_FAILED)
    job.limit(SEARCH_LIMIT_S, error("timed-out", text))
    return job.cancel


def _search_and_exit(
    repo: str, root: str, glob: str, expression: re.Pattern[str], write_end: int
) -> None:
    """Do the work of the forked process; it never returns."""
    try:
        search = FileSearch(repo, root, glob)
        matches = list(islice(search.find(expression), MAX_MATCHES + 1))
        is_cut = len(matches) > MAX_MATCHES
        result: Reply = {
            "kind": "search_result",
            "text": "\n".join(matches[:MAX_MATCHES]),
            "matches": min(len(matches), MAX_MATCHES),
            "truncated": is_cut,
            "note": search.describe(len(matches), is_cut),
        }
        with os.fdopen(write_end, "w", encoding="utf-8", errors="replace") as file:
            json.dump(result, file, ensure_ascii=False)
    finally:
        os._exit(0)


class FileSearch:
    """Goes through the files below `root` that fit `glob`, and knows what it left out.

    `searched` counts the files that were read, `too_large` names those that were not.
    """

    def __init__(self, repo: str, root: str, glob: str) -> None:
        self._repo, self._root, self._glob = repo, root, glob
        self.searched = 0
        self.too_large: list[str] = []

    def find(self, expression: re.Pattern[str]) -> Iterator[str]:
        for path in _list_files(self._repo, self._root):
            name = os.path.relpath(path, self._repo)
            if self._glob and not _matches_glob(name, self._glob):
                continue
            for number, line in enumerate(self._read_lines(path, name), 1):
                if expression.search(line):
                    yield f"{name}:{number}: {_truncate_line(line)}"

    def describe(self, matches: int, is_cut: bool) -> str:  # noqa: FBT001 - a fact of the result
        """Say what the matches do not: where the search ended, and what it left out."""
        notes = []
        if is_cut:
            notes.append(
                f"stopped at {MAX_MATCHES} matches, and there are more: narrow `path`,"
                " `glob` or `pattern`"
            )
        elif not matches:
            files = "1 file" if self.searched == 1 else f"{self.searched} files"
            notes.append(f"no match in {files}; what git ignores is not searched")
        if self.too_large:
            named = ", ".join(self.too_large[:MAX_NAMED_FILES])
            more = len(self.too_large) - MAX_NAMED_FILES
            others = f" and {more} more" if more > 0 else ""
            notes.append(f"too large to be searched here: {named}{others}")
        return "; ".join(notes)

    def _read_lines(self, path: str, name: str) -> list[str]:
        try:
            if not os.path.isfile(path):
                return []
            if os.path.getsize(path) > MAX_FILE_BYTES:
                self.too_large.append(name)
                return []
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return []
        if b"\0" in data[:SAMPLE]:
            return []
        self.searched += 1
        return split_lines(data.decode("utf-8", "replace"))


def _truncate_line(line: str) -> str:
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    dropped = len(line) - MAX_LINE_CHARACTERS
    return f"{line[:MAX_LINE_CHARACTERS]} [... {dropped} more characters ...]"


def _matches_glob(name: str, glob: str) -> bool:
    short = glob[3:] if glob.startswith("**/") else glob
    return any(
        fnmatch.fnmatchcase(candidate, pattern)
        for candidate in (name, os.path.basename(name))
        for pattern in (glob, short)
    )


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
