"""Make the images that tests start, so that no test has to wait for one.

`python -m tests.provision.images` takes some minutes the first time.
"""

import sys

from tests.deploy.images import ensure_images
from tests.provision.errors import ProvisionError
from tests.tutorials.machine import PIPX_READER, READER, ensure


def main() -> int:
    try:
        ensure_images()
        ensure(READER)
        ensure(PIPX_READER)
    except ProvisionError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
