"""Start the run of the Action where no command is installed."""

from patchwright.core.settings.environment import process_environment
from patchwright.workers.action.run import run_job
from patchwright.workers.ops.lifecycle import exit_now

if __name__ == "__main__":
    exit_now(run_job(process_environment()))
