"""One stack for all tests that only use it."""

from collections.abc import Iterator

import pytest

from tests.deploy.images import Images, ensure_images
from tests.deploy.scene import Scene, scene
from tests.deploy.stack import Stack, installed


@pytest.fixture(scope="session")
def images() -> Images:
    """Return the images of deploy/, built from this tree."""
    return ensure_images()


@pytest.fixture(scope="package")
def world() -> Iterator[Scene]:
    """Set the scene: a GitHub with a repository, and a model that can mend it."""
    with scene() as set_up:
        yield set_up


@pytest.fixture(scope="package")
def stack(
    images: Images, world: Scene, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """Run the stack, with one worker."""
    folder = tmp_path_factory.mktemp("stack")
    with installed(folder, images, world.settings, world.secrets) as ready:
        ready.up()
        yield ready
