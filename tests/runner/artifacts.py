"""What `actions/upload-artifact` does with its inputs.

https://github.com/actions/upload-artifact#inputs
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Final

NAME: Final = "actions/upload-artifact"
_DEFAULTS: Final = {
    "name": "artifact",
    "path": "",
    "if-no-files-found": "warn",
    "retention-days": "",
    "compression-level": "6",
    "overwrite": "false",
    "include-hidden-files": "false",
    "archive": "true",
}
_FORBIDDEN: Final = re.compile(r'[":<>|*?\r\n\\/]')


class UploadError(Exception):
    """The action fails the step, with this message."""


@dataclass
class Artifacts:
    """The artifacts of one workflow run: files by their path in the archive."""

    kept: dict[str, dict[str, bytes]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def upload(self, arguments: Mapping[str, str]) -> dict[str, str]:
        """Keep what the inputs choose; return the step's outputs."""
        if unknown := sorted(arguments.keys() - _DEFAULTS.keys()):
            raise UploadError(f"Unexpected input(s) {unknown}")
        chosen = {**_DEFAULTS, **arguments}
        files = _files(chosen)
        if not files:
            return self._nothing(chosen)
        self._check_name(chosen)
        root = _root(chosen["path"], files)
        self.kept[chosen["name"]] = {
            str(file.relative_to(root)): file.read_bytes() for file in files
        }
        return {"artifact-id": str(len(self.kept))}

    def _check_name(self, chosen: Mapping[str, str]) -> None:
        name = chosen["name"]
        if not name or _FORBIDDEN.search(name):
            raise UploadError(f"The artifact name is not valid: {name!r}")
        if name in self.kept and chosen["overwrite"] != "true":
            raise UploadError(
                "Failed to CreateArtifact: Received non-retryable error: Conflict: an "
                "artifact with this name already exists on the workflow run"
            )

    def _nothing(self, chosen: Mapping[str, str]) -> dict[str, str]:
        message = (
            f"No files were found with the provided path: {chosen['path']}. "
            "No artifacts will be uploaded."
        )
        match chosen["if-no-files-found"]:
            case "error":
                raise UploadError(message)
            case "warn":
                self.warnings.append(message)
            case "ignore":
                pass
            case other:
                raise UploadError(f"Unrecognized if-no-files-found input: {other}")
        return {}


def _files(chosen: Mapping[str, str]) -> list[Path]:
    """Return the files that the patterns name, without what is hidden in them."""
    if not chosen["path"].strip():
        raise UploadError("Input required and not supplied: path")
    patterns = [line.strip() for line in chosen["path"].splitlines() if line.strip()]
    hidden = chosen["include-hidden-files"] == "true"
    wanted = {one for p in patterns if p[0] != "!" for one in _below(p, hidden)}
    unwanted = {one for p in patterns if p[0] == "!" for one in _below(p[1:], hidden)}
    return sorted(wanted - unwanted)


def _below(pattern: str, shows_hidden: bool) -> set[Path]:  # noqa: FBT001 - an input
    found = {Path(one) for one in glob(pattern, recursive=True)}  # noqa: PTH207 - as given
    within = {
        one
        for folder in found
        for one in folder.rglob("*")
        if shows_hidden or not _is_hidden(one.relative_to(folder))
    }
    return {one for one in within | found if one.is_file()}


def _root(pattern: str, files: list[Path]) -> Path:
    """Return what paths in the archive are relative to: the folder that was named."""
    folder = Path(pattern.strip())
    if folder.is_dir():
        return folder
    return Path(os.path.commonpath([file.parent for file in files]))


def _is_hidden(file: Path) -> bool:
    return any(part.startswith(".") for part in file.parts)
