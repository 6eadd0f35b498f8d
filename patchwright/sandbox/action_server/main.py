"""Start the server; this file is what Python runs when it is given the archive."""

from __future__ import annotations

import sys

from patchwright.sandbox.action_server.configuration import read_config
from patchwright.sandbox.action_server.hardening import harden, take_control_files
from patchwright.sandbox.action_server.server import ActionServer
from patchwright.sandbox.action_server.wire import HostChannel


def main() -> None:
    harden()
    config = read_config(sys.argv[1])
    ActionServer(config, HostChannel(*take_control_files())).serve()


if __name__ == "__main__":
    main()
