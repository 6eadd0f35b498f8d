"""In whose name the bot commits."""

from patchwright.core.settings.github import GitHubSettings
from patchwright.integrations.git.grafts import Signature


def commit_author_of(github: GitHubSettings) -> Signature:
    """Return the bot's name and the address that stands for it on its GitHub."""
    name = github.mention.removeprefix("@")
    return Signature(name, f"{name}@{github.noreply_domain}")
