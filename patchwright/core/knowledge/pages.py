"""A page of what a repository says for agents to know, and when it is shown."""

from enum import StrEnum
from pathlib import PurePosixPath

from patchwright.core.types.base import Value


class PageKind(StrEnum):
    """When a page is shown; the first three are the words of a front matter.

    REPO always, KNOWLEDGE and TASK when the request has one of their triggers, FOLDER
    when the request names its folder, and a DOCUMENT is only ever looked up.
    """

    REPO = "repo"
    KNOWLEDGE = "knowledge"
    TASK = "task"
    FOLDER = "folder"
    DOCUMENT = "document"


class KnowledgePage(Value):
    """One file; `text` is what its readers see, without the front matter."""

    path: str
    kind: PageKind
    text: str
    triggers: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder that it lies in, `.` for the top of the repository."""
        return str(PurePosixPath(self.path).parent)
