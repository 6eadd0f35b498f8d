"""The program that runs one command of a session, in a shell of its own.

A session is what its commands leave to the next one: the folder, the variables and the
functions. A command can change nothing else, so whatever it does to its shell (options,
traps, closed files, builtins under functions of the same name) ends with it.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import NamedTuple

from patchwright.sandbox.action_server.child import OFFER_TO_BE_KILLED, Launch
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.environment import (
    find_program,
    plan_environment,
)

# The shell's files. Plain digits, since POSIX sh knows no others; a command sees none
# of them.
STATE_FD = 4
INPUT_FD = 6
GO_FD = 8
COMMAND_FD = 9

NO_INPUT = os.devnull
PIPED_INPUT = f"/proc/self/fd/{INPUT_FD}"

# Functions of these names would keep our own words from working. Unlike others, these
# builtins come before functions in POSIX mode, `unset` among them.
# https://www.gnu.org/software/bash/manual/html_node/Bash-POSIX-Mode.html
_SPECIAL = (
    "eval exec exit export readonly return set shift source trap unset break continue"
)
# What belongs to one shell alone.
_OWN = (
    "LINENO RANDOM SRANDOM FUNCNAME GROUPS DIRSTACK PIPESTATUS HISTCMD POSIXLY_CORRECT "
    "PATCHWRIGHT_COMMAND PATCHWRIGHT_INPUT BASH_EXECUTION_STRING BASH_ARGC BASH_ARGV "
    "BASH_LINENO BASH_SOURCE _"
)

# A shell waits for its turn until it is told where its input comes from.
_WAIT = (
    f"{{ {OFFER_TO_BE_KILLED}}} 2>/dev/null; "
    "IFS= read -r PATCHWRIGHT_INPUT <&8 || exit; "
    'exec <"$PATCHWRIGHT_INPUT" 6<&- 8<&-; '
)
# One line, so that the line numbers in messages are those of the command. The command
# is read before the state, in which its author may have redefined `read`. The status of
# the last subshell is that of the command, whatever `exit` means by then.
_BASH = (
    f"{_WAIT}"
    "IFS= read -r -d '' PATCHWRIGHT_COMMAND </proc/self/fd/9; "
    ". /proc/self/fd/4 >/dev/null 2>&1; "
    f"{{ POSIXLY_CORRECT=1; unset -f {_SPECIAL}; unset POSIXLY_CORRECT; }} 2>/dev/null;"
    ' eval "$PATCHWRIGHT_COMMAND" 4>&- 9>&-; '
    "{ PATCHWRIGHT_STATUS=$?; POSIXLY_CORRECT=1; trap - DEBUG ERR RETURN; } "
    "2>/dev/null; ( set +efnuvx; "
    f"unset -f builtin declare printf pwd umask {_SPECIAL}; set +o posix; "
    f"unset -v {_OWN}; "
    "{ declare -p; declare -f; declare -F; umask -p; "
    "printf '\\0'; pwd -P; printf '\\0'; } >|/proc/self/fd/4; "
    'set -o posix; exit "$PATCHWRIGHT_STATUS" ) 2>/dev/null'
)
# No `cat` here: a command may have set a PATH in which there is none.
_SH = (
    f"{_WAIT}"
    "PATCHWRIGHT_COMMAND=; "
    'while IFS= read -r PATCHWRIGHT_LINE || [ -n "$PATCHWRIGHT_LINE" ]; do '
    'PATCHWRIGHT_COMMAND="$PATCHWRIGHT_COMMAND$PATCHWRIGHT_LINE\n"; '
    "done </proc/self/fd/9; "
    ". /proc/self/fd/4 >/dev/null 2>&1; "
    'eval "$PATCHWRIGHT_COMMAND" 4>&- 9>&-; '
    "( PATCHWRIGHT_STATUS=$?; set +efnuvx; unset -f printf pwd; "
    "unset PATCHWRIGHT_COMMAND PATCHWRIGHT_LINE PATCHWRIGHT_INPUT; "
    "{ export -p; printf '\\0'; pwd -P; printf '\\0'; } >|/proc/self/fd/4; "
    'exit "$PATCHWRIGHT_STATUS" ) 2>/dev/null'
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# With one of these read-only, the shell could not be handed its next command.
_READ_ONLY = re.compile(rb"^declare -\w*r\w* (?:PATCHWRIGHT_|POSIXLY_)", re.MULTILINE)


class State(NamedTuple):
    """What a session's next command finds: `script` is for the shell to read."""

    script: bytes
    cwd: str

    def for_shell(self) -> bytes:
        folder = os.fsencode(shlex.quote(self.cwd))
        return b"cd -P -- %s\n%s" % (folder, self.script)


def plan_shell(config: Config, inherited: dict[str, str]) -> tuple[Launch, State]:
    """Choose bash, or sh where there is none; the image's own variables stay.

    Variables are a part of the state, so that one which a command has unset stays so. A
    shell cannot keep those whose names are none: each is started with them.
    """
    variables = plan_environment(config, inherited)
    named = {name: variables[name] for name in variables if _NAME.fullmatch(name)}
    others = {name: variables[name] for name in variables if name not in named}
    lines = [f"export {name}={shlex.quote(named[name])}\n" for name in named]
    folder = os.path.join(config.workspace, "repo")
    state = State(os.fsencode("".join(lines)), folder)
    bash = find_program("bash", variables["PATH"])
    if bash:
        words = [bash, "--noprofile", "--norc", "-c", _BASH, "bash"]
        return Launch(bash, words, others), state
    return Launch("/bin/sh", ["sh", "-c", _SH, "sh"], others), state


def read_state(stored: bytes) -> State | None:
    """Return what a shell has stored, or None if it ended before it had done so."""
    parts = stored.split(b"\0")
    if len(parts) != len(State._fields) + 1 or _READ_ONLY.search(parts[0]):
        return None
    return State(parts[0], os.fsdecode(parts[1][:-1]))
