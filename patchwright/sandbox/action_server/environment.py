"""The environment that the agent's programs start with."""

from __future__ import annotations

import os

from patchwright.sandbox.action_server.configuration import Config

_NEVER_ASK = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "CI": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
}
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def plan_environment(config: Config, inherited: dict[str, str]) -> dict[str, str]:
    """Return the image's own variables, ours over them, and those of the host last."""
    return {
        "PATH": _DEFAULT_PATH,
        "LANG": "C.UTF-8",
        **inherited,
        "HOME": os.path.join(config.workspace, "home"),
        "USER": "patchwright",
        "LOGNAME": "patchwright",
        "WORKSPACE": config.workspace,
        **_NEVER_ASK,
        **config.environment,
    }


def find_program(name: str, path: str) -> str | None:
    candidates = (os.path.join(folder, name) for folder in path.split(":"))
    return next((one for one in candidates if os.access(one, os.X_OK)), None)
