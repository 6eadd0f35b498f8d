"""Start the run of the Action where no command is installed."""

import sys

from patchwright.core.settings.environment import process_environment
from patchwright.core.types.base import RandomIds
from patchwright.workers.action.run import run
from patchwright.workers.ops.lifecycle import exit_now


def main() -> None:
    """Run; what is logged on the way are no commands for GitHub's runner.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#stopping-and-starting-workflow-commands
    """
    word = RandomIds().new()
    sys.stdout.write(f"::stop-commands::{word}\n")
    sys.stdout.flush()
    run(process_environment())
    sys.stdout.write(f"::{word}::\n")
    exit_now(0)


if __name__ == "__main__":
    main()
