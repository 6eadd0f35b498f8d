"""People drop files into what they write."""

from tests.fakes.github.attachment_state import Attachment
from tests.fakes.github.state import World


def upload(world: World, full_name: str, data: bytes) -> str:
    """Upload a file and return the address that GitHub puts into the text."""
    with world.lock:
        number = world.next_id()
        name = f"00000000-0000-4000-8000-{number:012x}"
        repo = world.repo(full_name).full_name
        world.attachments[name] = Attachment(id=name, repo=repo, data=data)
        return f"{world.web_url}/user-attachments/assets/{name}"
