"""Run the demo: `make demo`."""

import sys
from importlib import import_module

# Said before the rest is imported, which takes seconds on a busy machine.
print(  # noqa: T201 - the console of the demo is not there yet
    "Patchwright demo: a mention on an emulated GitHub becomes a proven pull request.\n"
    "Nothing leaves this machine.",
    flush=True,
)
sys.exit(import_module("demo.play").run())
