"""Find a repository's own template for pull requests."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.objects import ObjectStore

_MAX_TEMPLATE_BYTES: Final = 65_536
# Where GitHub looks, and in which order.
# https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/creating-a-pull-request-template-for-your-repository
_TEMPLATE_PARENTS: Final = (".github", "", "docs")
_TEMPLATE_NAMES: Final = ("pull_request_template.md", "pull_request_template.txt")
_TEMPLATE_FOLDER: Final = "pull_request_template"
_DEFAULT_TEMPLATES: Final = ("default.md", *_TEMPLATE_NAMES)


def find_template(code: ObjectStore, sha: str) -> str:
    """Return a repository's template as of a commit, or an empty text.

    Among several the one that is named as the default counts, or the only one.
    """
    path = _choose_template(code.list_files(sha))
    found = code.read_files(sha, [path], _MAX_TEMPLATE_BYTES) if path else {}
    raw = found.get(path)
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""


def _choose_template(paths: tuple[str, ...]) -> str:
    known = {path.lower(): path for path in paths if path.count("/") <= 2}  # noqa: PLR2004 - folder, folder, file
    single = [
        known.get(f"{folder}/{name}".lstrip("/"), "")
        for folder in _TEMPLATE_PARENTS
        for name in _TEMPLATE_NAMES
    ]
    several = [_find_in_folder(known, f"{folder}/{_TEMPLATE_FOLDER}".lstrip("/")) for folder in _TEMPLATE_PARENTS]
    return next((path for path in (*single, *several) if path), "")


def _find_in_folder(known: Mapping[str, str], folder: str) -> str:
    inside = {
        PurePosixPath(lower).name: path
        for lower, path in known.items()
        if str(PurePosixPath(lower).parent) == folder
    }
    named = (inside[name] for name in _DEFAULT_TEMPLATES if name in inside)
    only = next(iter(inside.values()), "") if len(inside) == 1 else ""
    return next(named, only)
