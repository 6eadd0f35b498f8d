"""Whether git tracks a file, wherever it is."""

from pathlib import Path

from patchwright.integrations.git.command import call_git


def is_tracked(file: Path) -> bool:
    """Ask git; a file is not tracked where there is no repository, or no git.

    A link counts as what it leads to. The index alone is read, so that the owner of
    the repository does not matter.
    """
    real = file.resolve()
    try:
        done = call_git(
            ["ls-files", "--error-unmatch", "--", real.name],
            cwd=real.parent,
            settings={"safe.directory": "*"},
        )
    except OSError:
        return False
    return done.exit_code == 0
