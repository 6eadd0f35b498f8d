"""The loop that the persistent shell runs."""

from __future__ import annotations

import os

from patchwright.sandbox.action_server.child import OFFER_TO_BE_KILLED, Launch
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.environment import (
    find_program,
    plan_environment,
)

# The shell's files. Plain digits, since POSIX sh knows no others; a command sees none
# of them.
STATE_FD = 4
OUTPUT_FD = 5
INPUT_FD = 6
DONE_FD = 7
GO_FD = 8
COMMAND_FD = 9

NO_INPUT = os.devnull
PIPED_INPUT = f"/proc/self/fd/{INPUT_FD}"

# One line, so that the line numbers in messages are those of the command. What runs
# beside the command must survive its `set -e`, `set -u`, `set -C` and `set -x`.
#
# The command cannot see the word that ends it: that is read after the command.
_LOOP = (
    f"{OFFER_TO_BE_KILLED}"
    ". /proc/self/fd/4 || :; "
    "while IFS= read -r PATCHWRIGHT_INPUT <&8; do "
    "{{ {read_command} || :; }} </proc/self/fd/9; "
    'eval "$PATCHWRIGHT_COMMAND" <"$PATCHWRIGHT_INPUT" >&5 2>&5 '
    "4>&- 5>&- 6<&- 7>&- 8<&- 9<&-; "
    "{{ PATCHWRIGHT_STATUS=$?; {{ {save_state}; }} >|/proc/self/fd/4 || :; "
    "IFS= read -r PATCHWRIGHT_WORD <&8 || :; "
    'printf "%s %s\\n" "$PATCHWRIGHT_WORD" "$PATCHWRIGHT_STATUS" >&7; '
    "}}; done"
)
_BASH_LOOP = _LOOP.format(
    read_command="IFS= read -r -d '' PATCHWRIGHT_COMMAND",
    save_state="export -p; declare -f",
)
# No `cat` here: a command may have set a PATH in which there is none.
_SH_LOOP = _LOOP.format(
    read_command=(
        "PATCHWRIGHT_COMMAND=; "
        'while IFS= read -r PATCHWRIGHT_LINE || [ -n "$PATCHWRIGHT_LINE" ]; do '
        'PATCHWRIGHT_COMMAND="$PATCHWRIGHT_COMMAND$PATCHWRIGHT_LINE\n"; done'
    ),
    save_state="export -p",
)


def plan_launch(config: Config, inherited: dict[str, str]) -> Launch:
    """Choose bash, or sh where there is none; the image's own variables stay."""
    environment = plan_environment(config, inherited)
    bash = find_program("bash", environment["PATH"])
    if bash:
        loop = [bash, "--noprofile", "--norc", "-c", _BASH_LOOP, "bash"]
        return Launch(bash, loop, environment)
    return Launch("/bin/sh", ["sh", "-c", _SH_LOOP, "sh"], environment)
