"""Start the server; this file is what Python runs when it is given the archive."""

from __future__ import annotations

import sys

from patchwright.sandbox.action_server.configuration import read_config
from patchwright.sandbox.action_server.hardening import harden, take_control_files
from patchwright.sandbox.action_server.server import Server
from patchwright.sandbox.action_server.wire import Channel


def main() -> None:
    harden()
    config = read_config(sys.argv[1])
    Server(config, Channel(*take_control_files())).serve()


if __name__ == "__main__":
    main()
