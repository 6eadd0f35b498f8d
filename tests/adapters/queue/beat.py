"""The clock of the sweeps as a process: `beat BROKER_URL`."""

import sys

from patchwright.workers.queue.app import make_celery
from patchwright.workers.queue.celery_worker import run_beat

if __name__ == "__main__":
    run_beat(make_celery(sys.argv[1], sweep_every_s=0.2))
