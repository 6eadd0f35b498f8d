"""People drop files into what they write."""

import secrets

from tests.fakes.gitlab.state import Project, Upload, World


def upload(world: World, project: Project, name: str, data: bytes) -> Upload:
    """Keep a file under a name that nobody guesses."""
    made = Upload(
        id=world.next_id(),
        project=project.id,
        secret=secrets.token_hex(16),
        name=name,
        data=data,
    )
    world.uploads[made.secret] = made
    return made
