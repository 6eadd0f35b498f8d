"""Replace files of the repository; this program runs inside a sandbox.

Standard library only, Python 3.8 and newer. Its arguments are the repository and a
JSON file: a list of path, content in base64 (null for no file), and whether it is a
program, for each file; and how many seconds in the future the files are dated.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time


def replace(path: str, content: str | None, *, is_executable: bool, at: float) -> None:
    """Write a file, or remove it; its date tells what is compiled from it apart."""
    if os.path.lexists(path):
        os.unlink(path)
    if content is None:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(base64.b64decode(content))
    os.chmod(path, 0o755 if is_executable else 0o644)
    os.utime(path, (at, at))


def main() -> None:
    folder, manifest = sys.argv[1:]
    with open(manifest, encoding="ascii") as file:
        wanted = json.load(file)
    # Build tools and Python's own cache compare times in whole seconds.
    at = time.time() + float(wanted["ahead_s"])
    for path, content, is_executable in wanted["files"]:
        inside = os.path.join(folder, path)
        replace(inside, content, is_executable=is_executable, at=at)


if __name__ == "__main__":
    main()
