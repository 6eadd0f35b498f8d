"""New commits and trees made without a work tree, signed where there is a key."""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from patchwright.core.types.base import readable
from patchwright.core.types.errors import GitError
from patchwright.integrations.git.command import GitDir


@contextmanager
def signing_options(key: SecretStr | None) -> Iterator[Sequence[str]]:
    """Give git's options for signing with this key; there are none without a key.

    `key` is an OpenSSH private key without a passphrase.
    """
    if key is None:
        yield ()
        return
    # Only its owner can look into this folder.
    with tempfile.TemporaryDirectory(prefix="patchwright-key-") as folder:
        file = Path(folder) / "key"
        file.touch(mode=0o600)
        file.write_text(f"{key.get_secret_value().strip()}\n", encoding="ascii")
        # https://git-scm.com/docs/git-config#Documentation/git-config.txt-usersigningKey
        yield ("-c", "gpg.format=ssh", "-c", f"user.signingKey={file}")


@dataclass(frozen=True, slots=True)
class Signature:
    """A name in a commit."""

    name: str
    email: str


def make_commit(
    store: GitDir,
    tree: str,
    *parents: str,
    message: str,
    author: Signature,
    committer: Signature,
    when: datetime,
    signing_key: SecretStr | None = None,
) -> str:
    date = f"@{int(when.timestamp())} +0000"
    identity = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": committer.name,
        "GIT_COMMITTER_EMAIL": committer.email,
        "GIT_COMMITTER_DATE": date,
    }
    # Git refuses a NUL, and keeps every other control character for ever.
    text = readable(message).encode("utf-8", "replace")
    named = [word for parent in parents for word in ("-p", parent)]
    with signing_options(signing_key) as options:
        sign = ["-S"] if options else []
        command = [*options, "commit-tree", *sign, tree, *named]
        made = store.run(command, environment=identity, stdin=text)
    return made.decode("ascii").strip()


def replace_paths(store: GitDir, onto: str, source: str, paths: Collection[str]) -> str:
    """Return the tree of `onto` in which `paths` are as `source` has them.

    A path that `source` lacks is removed.
    """
    with tempfile.TemporaryDirectory(prefix="patchwright-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        store.run(["read-tree", onto], environment=index)
        lines = _index_lines(store, source, frozenset(paths))
        update = ["update-index", "-z", "--add", "--replace", "--index-info"]
        store.run(update, environment=index, stdin=lines)
        return store.run(["write-tree"], environment=index).decode("ascii").strip()


def rebase(store: GitDir, commit: str, onto: str) -> str | None:
    """Apply the commit on top of another one, with its author, unless it conflicts."""
    raw = store.run(["cat-file", "commit", commit]).decode("utf-8", "replace")
    head, _, message = raw.partition("\n\n")
    lines = [line.partition(" ") for line in head.split("\n")]
    parents = [value for name, _, value in lines if name == "parent"]
    is_signed = any(name.startswith("gpgsig") for name, _, _ in lines)
    if len(parents) != 1 or is_signed or not _builds_on(store, onto, parents[0]):
        return None
    merged = store.call(["merge-tree", "--write-tree", onto, commit])
    if merged.exit_code != 0:
        return None
    tree = merged.output.decode("ascii", "replace").partition("\n")[0].strip()
    people = {name: _read_signature(value) for name, _, value in lines}
    author, when = people["author"]
    return make_commit(
        store,
        tree,
        onto,
        message=message,
        author=author,
        committer=people["committer"][0],
        when=when,
    )


def _builds_on(store: GitDir, commit: str, ancestor: str) -> bool:
    asked = ["merge-base", "--is-ancestor", ancestor, commit]
    return store.call(asked).exit_code == 0


def _read_signature(line: str) -> tuple[Signature, datetime]:
    """Read `Name <address> seconds zone`, as it stands in a commit."""
    who, _, moment = line.rpartition("> ")
    name, _, email = who.partition(" <")
    seconds = moment.partition(" ")[0]
    at = int(seconds) if seconds.isdecimal() else 0
    return Signature(name, email), datetime.fromtimestamp(at, UTC)


BOT_SIGNATURE = Signature("Patchwright", "patchwright@localhost")
# The same tests on the same base are the same commit, whenever it is made.
FIXED_DATE = datetime(2000, 1, 1, tzinfo=UTC)


def without_history(store: GitDir, commit: str) -> str:
    """Return a commit with the same files and no other information.

    All such commits look alike: no history, and the same message, author and date.
    """
    tree = store.run_text(["rev-parse", "--verify", f"{commit}^{{tree}}"])
    return make_commit(
        store,
        tree,
        message="Code under test\n",
        author=BOT_SIGNATURE,
        committer=BOT_SIGNATURE,
        when=FIXED_DATE,
    )


def with_tests_of(store: GitDir, base: str, head: str, paths: Collection[str]) -> str:
    """Return a commit on `base` that differs from it by these paths of `head` alone."""
    return make_commit(
        store,
        replace_paths(store, base, head, paths),
        base,
        message="The new tests on the old code\n",
        author=BOT_SIGNATURE,
        committer=BOT_SIGNATURE,
        when=FIXED_DATE,
    )


def with_files(store: GitDir, commit: str, contents: Mapping[str, bytes | None]) -> str:
    """Return a commit on `commit` in which these files have other contents.

    A file with None is not there. One that was there keeps its mode.
    """
    with tempfile.TemporaryDirectory(prefix="patchwright-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        store.run(["read-tree", commit], environment=index)
        present = _entries(store, commit)
        lines = [
            _line_of(store, path.encode("utf-8", "surrogateescape"), content, present)
            for path, content in sorted(contents.items())
        ]
        update = ["update-index", "-z", "--add", "--replace", "--index-info"]
        store.run(update, environment=index, stdin=b"".join(lines))
        tree = store.run(["write-tree"], environment=index).decode("ascii").strip()
    return make_commit(
        store,
        tree,
        commit,
        message="A part of the change\n",
        author=BOT_SIGNATURE,
        committer=BOT_SIGNATURE,
        when=FIXED_DATE,
    )


def _line_of(
    store: GitDir, path: bytes, content: bytes | None, present: Mapping[bytes, bytes]
) -> bytes:
    if content is None:
        return b"0 " + b"0" * 40 + b"\t" + path + b"\0"
    blob = store.run(["hash-object", "-w", "--stdin"], stdin=content).strip()
    mode = present[path].split(b" ", 1)[0] if path in present else b"100644"
    return mode + b" " + blob + b"\t" + path + b"\0"


def _index_lines(store: GitDir, source: str, paths: frozenset[str]) -> bytes:
    # Each line is in the form that `update-index --index-info` reads.
    present = _entries(store, source)
    wanted = {path.encode("utf-8", "surrogateescape") for path in paths}
    if b"" in wanted:
        raise GitError("an empty path names no file")
    nothing = b"0 " + b"0" * len(source) + b"\t"
    removed = [nothing + path for path in wanted - present.keys()]
    kept = [present[path] for path in wanted & present.keys()]
    return b"".join(line + b"\0" for line in sorted(removed) + sorted(kept))


def _entries(store: GitDir, commit: str) -> dict[bytes, bytes]:
    """Return the line of each file in a tree, by its path."""
    listing = store.run(["ls-tree", "-r", "-z", "--full-tree", commit])
    return {entry.partition(b"\t")[2]: entry for entry in listing.split(b"\0") if entry}
