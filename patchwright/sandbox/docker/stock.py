"""Which images a Docker engine has."""

from contextlib import closing
from typing import Final

from docker.errors import ImageNotFound

from patchwright.sandbox.docker import engine

_PROBE_S: Final = 2


def has_image(image: str) -> bool:
    """Tell whether it can be started without a pull. Raises `SandboxError`."""
    with (
        engine.as_sandbox_errors(f"cannot look for the image {image}"),
        closing(engine.connect(_PROBE_S)) as client,
    ):
        try:
            client.api.inspect_image(image)
        except ImageNotFound:
            return False
        return True
