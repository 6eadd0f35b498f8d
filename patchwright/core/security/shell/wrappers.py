"""The programs that only run another one, and where it stands in their arguments."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Wrapper:
    """`valued` are options with a value; `operands` come before the other program.

    A `subcommand` has to be there, as the first of those.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    subcommand: str = ""


def _wrapper(valued: str = "", operands: int = 0, subcommand: str = "") -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands, subcommand)


def _plain(names: str) -> dict[str, Wrapper]:
    return dict.fromkeys(names.split(), _wrapper())


_UNTIL: Final = _wrapper("-s --signal -k --kill-after", operands=1)

WRAPPERS: Final = {
    **_plain("nohup setsid command builtin coproc eatmydata unbuffer fakeroot chronic"),
    **_plain("coverage busybox unshare ltrace dbus-run-session torsocks proxychains"),
    "exec": _wrapper("-a"),
    "env": _wrapper("-u --unset -C --chdir -a --argv0"),
    "timeout": _UNTIL,
    "gtimeout": _UNTIL,
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -p -P -u"),
    "chrt": _wrapper(operands=1),
    "taskset": _wrapper(operands=1),
    "setarch": _wrapper(operands=1),
    "faketime": _wrapper(operands=1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "strace": _wrapper("-o -e -p -s -u -E"),
    "time": _wrapper("-f -o --format --output"),
    "xargs": _wrapper("-I -n -P -d -L -s -a -E --max-args --max-procs --delimiter"),
    "parallel": _wrapper("-j --jobs -N -I"),
    "watch": _wrapper("-n --interval"),
    "flock": _wrapper("-w --timeout -E", operands=1),
    "sudo": _wrapper("-u -g -h -p -C -r -t -U -D -R -T"),
    "doas": _wrapper("-u -C"),
    "chroot": _wrapper(operands=1),
    "xvfb-run": _wrapper("-n -s -f -e -w -p"),
    "uv": _wrapper(
        "--with --python -p --project --directory --env-file --extra --group",
        operands=1,
        subcommand="run",
    ),
    "poetry": _wrapper("-C -P --directory --project", operands=1, subcommand="run"),
    "pipenv": _wrapper(operands=1, subcommand="run"),
    "pdm": _wrapper("-p --project", operands=1, subcommand="run"),
    "hatch": _wrapper("-e --env", operands=1, subcommand="run"),
    "rye": _wrapper(operands=1, subcommand="run"),
    "bundle": _wrapper(operands=1, subcommand="exec"),
    "conda": _wrapper("-n -p --name --prefix", operands=1, subcommand="run"),
}
