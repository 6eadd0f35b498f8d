"""Where the variables of this process come from."""

import os


def process_environment() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251 - this is the one place that reads them
