"""What the host tells the server when it starts it."""

from __future__ import annotations

import json
from typing import NamedTuple


class Config(NamedTuple):
    """The server's one command line argument, as JSON.

    `memory_bytes` is named to the model when a tool hits it. `max_data_bytes` and
    `max_processes` are set on every shell; 0 leaves that to the container engine.
    `disk_bytes` is what all files may take together.
    """

    workspace: str
    command_timeout_s: float
    lifetime_s: float
    environment: dict[str, str]
    memory_bytes: int = 0
    max_data_bytes: int = 0
    max_processes: int = 0
    disk_bytes: int = 0

    def to_json(self) -> str:
        return json.dumps(self._asdict())


def read_config(text: str) -> Config:
    return Config(**json.loads(text))
