"""Fetch a package's source distribution and lay it out as a git repository."""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.real.recipes import Recipe

CACHE = Path(__file__).parents[2] / ".cache" / "sdists"


def make_repository(recipe: Recipe, folder: Path) -> None:
    """Put the release's files into `folder`, as the one commit of a repository."""
    make_files(recipe, folder)
    _git(folder, "init", "--quiet", "--initial-branch=trunk")
    _git(folder, "add", "--all", "--force")
    _git(folder, "commit", "--quiet", f"--message={recipe}")


def make_files(recipe: Recipe, folder: Path) -> None:
    """Put the release's files into `folder`."""
    _unpack(_fetch(recipe), folder)


def _fetch(recipe: Recipe) -> Path:
    with machine_lock("sdists"):
        archive = CACHE / f"{recipe}.tar.gz"
        if not archive.exists():
            _download(recipe)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != recipe.sha256:
        raise ProvisionError(f"{archive} is not the archive that was chosen")
    return archive


def _download(recipe: Recipe) -> None:
    # pip runs the package's set-up to read its name: never before the hash was checked.
    wanted = f"{recipe.name}=={recipe.version} --hash=sha256:{recipe.sha256}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write(wanted)
        requirements.flush()
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        argv += ["--require-hashes", "--no-binary", recipe.name]
        argv += ["--dest", str(CACHE), "--requirement", requirements.name]
        ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise ProvisionError(f"{recipe} cannot be fetched:\n{ended.stderr}")


def _unpack(archive: Path, folder: Path) -> None:
    """Write the archive's files, without its top folder, links and modes."""
    with tarfile.open(archive) as tar:
        for member in filter(tarfile.TarInfo.isreg, tar):
            content = tar.extractfile(member)
            if content is None:
                continue
            with content:
                _write(folder, PurePosixPath(member.name), content.read())


def _write(folder: Path, name: PurePosixPath, content: bytes) -> None:
    if name.is_absolute() or ".." in name.parts:
        raise ProvisionError(f"the archive leaves its folder: {name}")
    path = folder.joinpath(*name.parts[1:])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _git(folder: Path, *arguments: str) -> None:
    author = ["-c", "user.name=Tests", "-c", "user.email=tests@localhost"]
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True)
