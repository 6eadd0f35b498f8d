"""End this process at once."""

import logging
import os
import sys
from typing import NoReturn


def exit_now(exit_code: int) -> NoReturn:
    """End the process now, with the threads that do not end by themselves.

    Python would wait for them, and one of them may be in the middle of a clone. A job
    that is cut off here is taken up again like that of a killed worker.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)
