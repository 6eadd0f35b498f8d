"""The shell of one command: its script, its files, and the state it leaves."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from typing import NamedTuple

from patchwright.sandbox.action_server.child_process import (
    OFFER_TO_BE_KILLED,
    Launch,
    find_program,
    plan_environment,
    spawn_child,
)
from patchwright.sandbox.action_server.protocol import Config
from patchwright.sandbox.action_server.workspace_paths import new_name

# The shell's files. Plain digits, since POSIX sh knows no others; a command sees none
# of them.
STATE_FD = 4
VARIABLES_FD = 5
INPUT_FD = 6
GO_FD = 8
COMMAND_FD = 9

NO_INPUT = "n"
PIPED_INPUT = "p"
_PIPE = f"/proc/self/fd/{INPUT_FD}"

# Functions of these names would keep our own words from working. Unlike others, these
# builtins come before functions in POSIX mode, `unset` among them.
# https://www.gnu.org/software/bash/manual/html_node/Bash-POSIX-Mode.html
_SPECIAL_BUILTINS = (
    "eval exec exit export readonly return set shift source trap unset break continue"
)
# What belongs to one shell alone.
_SHELL_OWN_NAMES = (
    "LINENO RANDOM SRANDOM FUNCNAME GROUPS DIRSTACK PIPESTATUS HISTCMD POSIXLY_CORRECT "
    "PATCHWRIGHT_COMMAND PATCHWRIGHT_INPUT BASH_EXECUTION_STRING BASH_ARGC BASH_ARGV "
    "BASH_LINENO BASH_SOURCE _"
)

# What is not the command's own, and must not stand in the output.
_START = f"{{ {OFFER_TO_BE_KILLED}}} 2>/dev/null; "
# The kind of input, as it is sent to a waiting shell; a closed file ends the shell. IFS
# and TMOUT of the restored state have no effect on this.
_WAIT = (
    "read -r -N 1 -t 2147483647 PATCHWRIGHT_INPUT <&8 || exit; "
    f'case "$PATCHWRIGHT_INPUT" in {PIPED_INPUT}) exec <{_PIPE} 6<&- 8<&-;; '
    f"*) exec <{os.devnull} 6<&- 8<&-;; esac; "
)
# What a session keeps, and the end of the shell.
_SAVE_STATE = (
    "set +efnuvx; "
    f"unset -f builtin declare printf pwd umask {_SPECIAL_BUILTINS}; set +o posix; "
    f"unset -v {_SHELL_OWN_NAMES}; "
    "{ declare -p; printf '\\0'; declare -f; declare -F; umask -p; "
    "printf '\\0'; pwd -P; printf '\\0'; } >|/proc/self/fd/4; "
    'set -o posix; exit "$PATCHWRIGHT_STATUS"'
)
# One line, so that the line numbers in messages are those of the command. The variables
# are there before the shell's turn comes, since that takes a while; the functions come
# after the command was read, or they could be called `read`. Where the command has set
# a trap, a subshell does the rest, which has none: the trap's own words find all as the
# command has left it, and the status of the subshell is that of the command, whatever
# `exit` means by then. Without one that fork is saved, half of what a command costs.
_BASH = (
    f"{_START}"
    ". /proc/self/fd/5 >/dev/null 2>&1; "
    f"{_WAIT}"
    "read -r -N 2147483647 PATCHWRIGHT_COMMAND </proc/self/fd/9; "
    ". /proc/self/fd/4 >/dev/null 2>&1; "
    f"{{ POSIXLY_CORRECT=1; unset -f {_SPECIAL_BUILTINS}; unset POSIXLY_CORRECT; }} "
    '2>/dev/null; eval "$PATCHWRIGHT_COMMAND" 4>&- 5<&- 9>&-; '
    "{ PATCHWRIGHT_STATUS=$?; POSIXLY_CORRECT=1; trap - DEBUG ERR RETURN; "
    "unset -f trap set; set +o posix; trap -p >|/proc/self/fd/4; set -o posix; } "
    "2>/dev/null; "
    f"if [[ -s /proc/self/fd/4 ]]; then ( {_SAVE_STATE} ) 2>/dev/null; "
    f"else {{ {_SAVE_STATE}; }} 2>/dev/null; fi"
)
# No `cat` here: a command may have set a PATH in which there is none.
_SH = (
    f"{_START}"
    "IFS= read -r PATCHWRIGHT_INPUT <&8 || exit; "
    f'case "$PATCHWRIGHT_INPUT" in {PIPED_INPUT}) exec <{_PIPE} 6<&- 8<&-;; '
    f"*) exec <{os.devnull} 6<&- 8<&-;; esac; "
    "PATCHWRIGHT_COMMAND=; "
    'while IFS= read -r PATCHWRIGHT_LINE || [ -n "$PATCHWRIGHT_LINE" ]; do '
    'PATCHWRIGHT_COMMAND="$PATCHWRIGHT_COMMAND$PATCHWRIGHT_LINE\n"; '
    "done </proc/self/fd/9; "
    ". /proc/self/fd/5 >/dev/null 2>&1; "
    'eval "$PATCHWRIGHT_COMMAND" 4>&- 5<&- 9>&-; '
    "( PATCHWRIGHT_STATUS=$?; set +efnuvx; unset -f printf pwd; "
    "unset PATCHWRIGHT_COMMAND PATCHWRIGHT_LINE PATCHWRIGHT_INPUT; "
    "{ export -p; printf '\\0\\0'; pwd -P; printf '\\0'; } >|/proc/self/fd/4; "
    'exit "$PATCHWRIGHT_STATUS" ) 2>/dev/null'
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# With one of these read-only, the shell could not be handed its next command.
_READ_ONLY = re.compile(rb"^declare -\w*r\w* (?:PATCHWRIGHT_|POSIXLY_)", re.MULTILINE)


class ShellState(NamedTuple):
    """What a session's next command finds: scripts for the shell to read."""

    variables: bytes
    functions: bytes
    cwd: str

    def script_before_turn(self, workspace: str) -> bytes:
        """Return what a shell may read before its turn comes."""
        ways = _quote(workspace), _quote(self.cwd)
        return b"cd -P -- %s; cd -P -- %s\n%s" % (*ways, self.variables)

    def script_at_turn(self, workspace: str) -> bytes:
        """Return the rest; somebody may have replaced the folder meanwhile."""
        ways = _quote(self.cwd), _quote(self.cwd), _quote(workspace)
        found = b"[[ . -ef %s ]] || cd -P -- %s || cd -P -- %s\n" % ways
        return found + self.functions


def _quote(path: str) -> bytes:
    return os.fsencode(shlex.quote(path))


def plan_shell(
    config: Config, inherited: dict[str, str], *, takes_additions: bool = True
) -> tuple[Launch, ShellState]:
    """Choose bash, or sh where there is none; the image's own variables stay.

    Variables are a part of the state, so that one which a command has unset stays so. A
    shell cannot keep those whose names are none: each is started with them. Which shell
    it is, nothing decides that a set-up may have added.
    """
    own = plan_environment(config, inherited, takes_additions=False)
    variables = plan_environment(config, inherited, takes_additions=takes_additions)
    folder = os.path.join(config.workspace, "repo")
    # This process stands elsewhere, and no shell sets what it is told to export.
    variables["PWD"] = folder
    named = {name: variables[name] for name in variables if _NAME.fullmatch(name)}
    others = {name: variables[name] for name in variables if name not in named}
    lines = [f"export {name}={shlex.quote(named[name])}\n" for name in named]
    state = ShellState(os.fsencode("".join(lines)), b"", folder)
    bash = find_program("bash", own["PATH"])
    if bash:
        words = [bash, "--noprofile", "--norc", "-c", _BASH, "bash"]
        return Launch(bash, words, others), state
    return Launch("/bin/sh", ["sh", "-c", _SH, "sh"], others), state


def read_state(stored: bytes) -> ShellState | None:
    """Return what a shell has stored, or None if it ended before it had done so."""
    parts = stored.split(b"\0")
    if len(parts) != len(ShellState._fields) + 1 or _READ_ONLY.search(parts[0]):
        return None
    return ShellState(parts[0], parts[1], os.fsdecode(parts[2][:-1]))


class ShellFiles(NamedTuple):
    """The files of a session, which its shells get one after the other."""

    output_read: int
    output_write: int
    input_read: int
    command: int
    state: int
    variables: int


class ShellProcess(NamedTuple):
    """A shell that waits for its turn, and ends when `go_write` is closed before."""

    pid: int
    go_write: int


def open_shell_files() -> ShellFiles:
    output_read, output_write = os.pipe()
    input_read, input_write = os.pipe()
    os.close(input_write)
    os.set_blocking(output_read, False)
    os.set_blocking(input_read, False)
    files = (create_unnamed_file() for _ in range(3))
    return ShellFiles(output_read, output_write, input_read, *files)


def start_shell(launch: Launch, config: Config, wiring: ShellFiles) -> ShellProcess:
    """Return a shell that waits until `go` is called."""
    go_read, go_write = os.pipe()
    wires = {
        1: wiring.output_write,
        2: wiring.output_write,
        STATE_FD: wiring.state,
        VARIABLES_FD: wiring.variables,
        INPUT_FD: wiring.input_read,
        GO_FD: go_read,
        COMMAND_FD: wiring.command,
    }
    try:
        pid = spawn_child(launch, config, wires)
    except OSError:  # too many processes
        os.close(go_write)
        raise
    finally:
        os.close(go_read)
    return ShellProcess(pid, go_write)


def start_command(shell: ShellProcess, source: str) -> None:
    """Have the shell run the command, with its input from there."""
    # One that was killed while it waited is seen to end, like any other.
    with suppress(BrokenPipeError):
        os.write(shell.go_write, source.encode() + b"\n")
    os.close(shell.go_write)


def is_waiting(shell: ShellProcess) -> bool:
    """Tell whether it lives; a command that ran meanwhile may have killed it."""
    try:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, shell.pid, how) is None
    except ChildProcessError:
        return False


def rewrite(fd: int, data: bytes) -> None:
    """Replace what a file holds."""
    os.ftruncate(fd, 0)
    position = 0
    while position < len(data):
        position += os.pwrite(fd, data[position:], position)


def read_whole(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def create_unnamed_file() -> int:
    path = os.path.join("/tmp", new_name())  # noqa: S108 - the name lives for a moment
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return fd
