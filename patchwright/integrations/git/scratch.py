"""A repository that lives for a moment and borrows the objects of another."""

import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from patchwright.integrations.git.command import run_git
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.history import shallow_commits


@contextmanager
def scratch_repository(source: GitDir, ends: Collection[str] = ()) -> Iterator[GitDir]:
    """Give a bare repository without refs that sees every object of `source`.

    What is written there never reaches `source` unless it is fetched from there. Its
    history ends where that of `source` does, and at the commits of `ends`.
    """
    kind = source.run_text(["rev-parse", "--show-object-format"])
    where = ["rev-parse", "--path-format=absolute", "--git-path", "objects"]
    objects = source.run(where)
    with tempfile.TemporaryDirectory(prefix="patchwright-git-") as folder:
        path = Path(folder).resolve()
        run_git(
            ["init", "--quiet", "--bare", "--template=", f"--object-format={kind}"],
            cwd=path,
        )
        alternates = path / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_bytes(objects)
        cut = sorted(shallow_commits(source) | set(ends))
        if cut:
            (path / "shallow").write_text("".join(f"{sha}\n" for sha in cut))
        yield GitDir(path)
