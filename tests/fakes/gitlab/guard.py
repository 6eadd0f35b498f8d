"""What looks at each push before the repository takes it, in GitLab's words.

The hook of a bare repository runs this file as a program, with what it has to keep to
as JSON in the environment, and only where there is something.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

HOME = Path(__file__)
GUARD = f"""#!/bin/sh
test -z "$GITLAB_PUSH" && exit 0
exec {sys.executable} -IS {HOME}
"""
NOTHING = "0" * 40
MEBIBYTE = 1 << 20
# What GitLab's rule against secrets knows by its name.
# https://docs.gitlab.com/user/project/repository/push_rules/
SECRET_FILES = (
    r"aws/credentials$",
    r"(ssh|config)/(personal|server)_(rsa|dsa|ed\d+|ecdsa)",
    r"id_rsa$",
    r"id_dsa$",
    r"id_ed25519$",
    r"id_ecdsa$",
    r"secring\.gpg$",
    r"\.?pem$",
    r"\.?key$",
    r"\.bash_history$",
)


def main() -> int:
    """Return 1 after saying why, where the push is against a rule.

    Who pushes a new branch is told where to go on, as on the real one.
    """
    asked = json.loads(os.environ["GITLAB_PUSH"])  # noqa: TID251 - a hook is told so
    lines = [line.split() for line in sys.stdin]
    for old, new, ref in lines:
        for problem in _problems(asked, old, new, ref):
            sys.stderr.write(f"GitLab: {problem}\n")
            return 1
    for old, new, ref in lines:
        branch = ref.removeprefix("refs/heads/")
        if old == NOTHING and new != NOTHING and branch != asked["default"]:
            address = f"{asked['proposals']}{quote(branch, safe='')}"
            text = f"\nTo create a merge request for {branch}, visit:\n  {address}\n\n"
            sys.stderr.write(text)
    return 0


def _problems(asked: dict[str, object], old: str, new: str, ref: str) -> Iterator[str]:
    branch = ref.removeprefix("refs/heads/")
    lent = asked["lent"]
    if isinstance(lent, list) and branch not in lent:
        yield "You are not allowed to push code to this project."
    yield from _protection(asked, old, new, branch)
    if new == NOTHING:
        return
    rules = asked["rules"]
    if not isinstance(rules, dict):
        return
    pattern = rules["branch_name"]
    if pattern and branch != asked["default"] and not re.search(pattern, branch):
        yield f"Branch name '{branch}' does not follow the pattern '{pattern}'"
    for sha in _git("rev-list", "--reverse", new, "--not", "--all").split():
        yield from _commit_problems(rules, sha)


def _protection(
    asked: dict[str, object], old: str, new: str, branch: str
) -> Iterator[str]:
    protected = asked["protected"]
    if new == NOTHING and branch == asked["default"]:
        yield "The default branch of a project cannot be deleted."
    if not isinstance(protected, dict) or branch not in protected:
        return
    may_push, may_force = protected[branch]
    if new == NOTHING:
        yield (
            "You are not allowed to delete protected branches from this project. "
            "Only a project maintainer or owner can delete a protected branch."
        )
    elif not may_push:
        yield "You are not allowed to push code to protected branches on this project."
    elif old != NOTHING and not may_force and _git("rev-list", "-1", old, f"^{new}"):
        yield (
            "You are not allowed to force push code to a protected branch on this "
            "project."
        )


def _commit_problems(rules: dict[str, object], sha: str) -> Iterator[str]:
    raw = _git("cat-file", "commit", sha)
    head, _, message = raw.partition("\n\n")
    wanted, unwanted = rules["commit_message"], rules["negative_message"]
    if wanted and not re.search(str(wanted), message):
        yield f"Commit message does not follow the pattern '{wanted}'"
    if unwanted and re.search(str(unwanted), message):
        yield f"Commit message contains the forbidden pattern '{unwanted}'"
    address = _git("show", "-s", "--format=%ae", sha).strip()
    mail = rules["author_email"]
    if mail and not re.search(str(mail), address):
        yield f"Author's email '{address}' does not follow the pattern '{mail}'"
    if rules["reject_unsigned"] and "\ngpgsig" not in head:
        yield "Commit must be signed with a GPG key"
    for path, size in _files(sha):
        yield from _file_problems(rules, path, size)


def _file_problems(rules: dict[str, object], path: str, size: int) -> Iterator[str]:
    patterns = [str(rules["file_name"])] if rules["file_name"] else []
    patterns += SECRET_FILES if rules["prevent_secrets"] else ()
    for pattern in patterns:
        if re.search(pattern, path):
            yield f"File name {path} was prohibited by the pattern '{pattern}'."
    most = rules["max_file_mb"]
    if isinstance(most, int) and most and size > most * MEBIBYTE:
        yield (
            f'File "{path}" is larger than the allowed size of {most} MiB. '
            "Use Git LFS to manage this file."
        )


def _files(sha: str) -> Iterator[tuple[str, int]]:
    """Return the files that a commit brings, with their sizes in bytes."""
    listed = _git("diff-tree", "--root", "-r", "-z", "--no-commit-id", sha)
    fields = listed.split("\0")
    for facts, path in zip(fields[::2], fields[1::2], strict=False):
        blob, kind = facts.split()[3:5]
        if kind != "D":
            yield path, int(_git("cat-file", "-s", blob))


def _git(*command: str) -> str:
    done = subprocess.run(
        ["git", *command], capture_output=True, check=True, text=True, errors="replace"
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
