"""Take the host's requests, see that each is carried out once, and answer."""

from __future__ import annotations

import array
import os
import signal
import socket
import sys
from collections import OrderedDict
from typing import Callable, Optional

from patchwright.sandbox.action_server.command import Cancel, SendReply
from patchwright.sandbox.action_server.event_loop import EventLoop
from patchwright.sandbox.action_server.file_actions import (
    download,
    edit_file,
    read_file,
    upload,
    write_file,
)
from patchwright.sandbox.action_server.limit_watch import watch_limits
from patchwright.sandbox.action_server.line_programs import LinePrograms
from patchwright.sandbox.action_server.one_off_jobs import browse, search_files
from patchwright.sandbox.action_server.processes import (
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.protocol import (
    TAKEN_OVER,
    ActionError,
    Config,
    HostChannel,
    HostRegistry,
    Reply,
    ServerRequest,
    error,
    parse,
    read_config,
)
from patchwright.sandbox.action_server.python_session import PythonSession
from patchwright.sandbox.action_server.shell_sessions import ShellSessions
from patchwright.sandbox.action_server.workspace_paths import WorkspacePaths

KEPT_RESULTS = 128


class IdempotencyTable:
    """Results by action id. The last ones are kept whole, the ids of all others too.

    An action whose result is gone is answered with an error: it is known to have run,
    and must not run again by itself.
    """

    def __init__(self, kept_results: int = KEPT_RESULTS) -> None:
        self._kept_results = kept_results
        self._seen: set[str] = set()
        self._results: OrderedDict[str, Reply] = OrderedDict()

    def begin(self, action_id: str) -> bool:
        """Return whether this action is new; from now on it is not."""
        is_new = action_id not in self._seen
        self._seen.add(action_id)
        return is_new

    def finish(self, action_id: str, result: Reply) -> None:
        self._results[action_id] = result
        if len(self._results) > self._kept_results:
            self._results.popitem(last=False)

    def find(self, action_id: str, *, is_running: bool) -> Reply | None:
        """Return the result of an action, or None if it will be sent later."""
        if is_running:
            return None
        lost = error("unknown", "this action has run; its result is no longer known")
        return self._results.get(action_id, lost)


ANSWER_S = 10.0
BACKLOG = 128
TAKEN = b"taken\n"

NO_PROXY = (
    "no socket could be handed to the sandbox's proxy, which a runtime such as gVisor "
    'does not let through; leave sandbox.runtime out, or set sandbox.network to "deny"'
)


def reach_out(meeting: str, port: int) -> Reply:
    """Listen on a port of this sandbox, and let the proxy answer there.

    The socket belongs to no process in here: nothing here can stop or replace it.
    """
    with socket.socket() as server_socket:
        server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server_socket.bind(("127.0.0.1", port))
        server_socket.listen(BACKLOG)
        try:
            is_taken = _pass_socket(server_socket, meeting)
        except OSError as error:
            raise ActionError("no-proxy", f"{NO_PROXY}: {error}") from error
    if not is_taken:
        raise ActionError("no-proxy", NO_PROXY)
    return {"kind": "ready"}


def _pass_socket(server_socket: socket.socket, meeting: str) -> bool:
    with socket.socket(socket.AF_UNIX) as way:
        way.settimeout(ANSWER_S)
        way.connect(meeting)
        files = array.array("i", [server_socket.fileno()])
        way.sendmsg([b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        return way.recv(len(TAKEN)) == TAKEN


Start = Callable[[ServerRequest, SendReply], Optional[Cancel]]

# These may run twice: they leave the same behind, or their host is the only one to ask.
UNRECORDED = frozenset(
    (
        *("hello", "cancel", "upload", "download", "reach_out"),
        *("pipe_open", "pipe_write", "pipe_read", "pipe_close"),
    )
)
FILE_ACTIONS = {
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "upload": upload,
    "download": download,
}


class ActionServer:
    """Serves one host at a time; another may take over where the first was lost."""

    def __init__(self, config: Config, channel: HostChannel) -> None:
        self._config = config
        self._channel = channel
        self._loop = EventLoop()
        self._places = WorkspacePaths(config.workspace)
        self._places.create()
        self._pipes = LinePrograms(self._loop, config)
        self._hosts = HostRegistry()
        self._results = IdempotencyTable()
        self._running: dict[str, Cancel | None] = {}
        self._starts = self._list_starts()
        self._loop.watch_read(channel.read_fd, self._receive)
        self._loop.after(config.lifetime_s, self._exit)

    def serve(self) -> None:
        self._loop.run_forever()

    def _list_starts(self) -> dict[str, Start]:
        shells = ShellSessions(self._loop, self._config)
        watch_limits(self._loop, self._config, shells.stop_all, self._give_up)
        return {
            "run_command": shells.run,
            "control_command": shells.control,
            "run_ipython": PythonSession(self._loop, self._config).run,
            "search_files": self._search,
            "browse": self._browse,
            "hello": self._welcome,
            "reach_out": self._reach_out,
            "cancel": self._cancel,
            "pipe_open": self._pipes.open,
            "pipe_write": self._pipes.write,
            "pipe_read": self._pipes.read,
            "pipe_close": self._pipes.close,
        }

    def _receive(self) -> None:
        lines = self._channel.read_lines()
        if lines is None:
            self._exit()
        for line in lines or ():
            request = parse(line)
            if request is not None:
                self._accept(request)

    def _accept(self, request: ServerRequest) -> None:
        action_id = request.id
        if request.op != "hello" and not self._hosts.is_current(request):
            self._channel.send(action_id, TAKEN_OVER)
        elif request.op in UNRECORDED:
            self._start(request, lambda result: self._channel.send(action_id, result))
        elif self._results.begin(action_id):
            self._begin(request)
        else:
            is_running = action_id in self._running
            known = self._results.find(action_id, is_running=is_running)
            if known is not None:
                self._channel.send(action_id, known)

    def _begin(self, request: ServerRequest) -> None:
        action_id = request.id
        self._running[action_id] = None
        cancel = self._start(request, lambda result: self._answer(action_id, result))
        if action_id in self._running:
            self._running[action_id] = cancel

    def _answer(self, action_id: str, result: Reply) -> None:
        self._running.pop(action_id, None)
        self._results.finish(action_id, result)
        self._channel.send(action_id, result)

    def _start(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        try:
            return self._dispatch(request, answer)
        except ActionError as failure:
            answer(error(failure.reason, failure.text))
        except OSError as failure:
            answer(error("system", str(failure)))
        except Exception as fault:  # noqa: BLE001 - one action's fault must not end all
            sys.excepthook(*sys.exc_info())
            answer(error("internal", f"the action server failed: {fault!r}"))
        return None

    def _dispatch(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        if request.op in FILE_ACTIONS:
            answer(FILE_ACTIONS[request.op](self._places, request))
            return None
        start = self._starts.get(request.op)
        if start is None:
            raise ActionError("bad-request", f"there is no action {request.op!r}")
        return start(request, answer)

    def _search(self, request: ServerRequest, answer: SendReply) -> Cancel:
        return search_files(self._loop, self._places, request, answer)

    def _browse(self, request: ServerRequest, answer: SendReply) -> Cancel:
        return browse(self._loop, self._config, request, answer)

    def _welcome(self, request: ServerRequest, answer: SendReply) -> None:
        if self._hosts.welcome(request):
            self._pipes.close_all()
        elif not self._hosts.is_current(request):
            answer(TAKEN_OVER)
            return
        answer({"kind": "ready", "python": sys.version.split()[0]})

    def _reach_out(self, request: ServerRequest, answer: SendReply) -> None:
        answer(reach_out(request.text("meeting"), request.whole("port", 0)))

    def _cancel(self, request: ServerRequest, answer: SendReply) -> None:
        cancel = self._running.get(request.text("target"))
        if cancel is not None:
            cancel()
        answer({"kind": "called-off"})

    def _give_up(self, why: str) -> None:
        """End the sandbox; the worker gets this text as the reason."""
        sys.stderr.write(f"{why}\n")
        sys.stderr.flush()
        self._exit()

    def _exit(self) -> None:
        # With process 1 the kernel ends all others; elsewhere that is left to us.
        for process in find_descendants(os.getpid(), list_processes()):
            send_signal(process.pid, signal.SIGKILL)
        os._exit(0)


try:
    import ctypes
except ImportError:  # some images carry Python without libffi
    ctypes = None  # type: ignore[assignment]

# https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36


def harden() -> None:
    # Process 1 gets only those signals of its children that it has a handler for, and
    # Python installs one for SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    # Without this a child of the same user could open /proc/1/fd and forge replies.
    _prctl(PR_SET_DUMPABLE, 0)
    os.umask(0o022)


def take_control_files() -> tuple[int, int]:
    """Move the control channel away from 0 and 1, where a child or a print finds it."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return read_fd, write_fd


def _prctl(option: int, value: int) -> None:
    if ctypes is not None:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main() -> None:
    harden()
    config = read_config(sys.argv[1])
    ActionServer(config, HostChannel(*take_control_files())).serve()
