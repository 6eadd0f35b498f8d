"""Build the images of deploy/ from what this machine has, once for each content."""

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.tree import ROOT, project_files
from tests.deploy.docker_cli import docker, image_exists, run
from tests.provision.errors import ProvisionError
from tests.provision.image import ensure_image
from tests.provision.locking import machine_lock

RECIPES = Path(__file__).with_name("images")
PYTHON = RECIPES / "python.Dockerfile"
PREFIX = "patchwright-test/"
# One folder for each Python that an image has.
WHEELS = ROOT / ".cache" / "deploy-wheels"
IN_IMAGES = (
    "patchwright/",
    "deploy/Caddyfile",
    "deploy/backend.awk",
    "deploy/build",
    "deploy/health",
    "deploy/install",
    "deploy/need",
    "deploy/proxy.Dockerfile",
    "deploy/sandbox.Dockerfile",
    "deploy/service.Dockerfile",
)
# Scripts that make wheels, of which the images know nothing.
TOOLS = ("deploy/fetch-wheels", "scripts/")
ALSO_IN_IMAGES = (
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "requirements-dev.lock",
    "requirements.lock",
)


@dataclass(frozen=True)
class Images:
    """Names of images that the engine has."""

    service: str
    sandbox: str
    proxy: str
    services: str


def ensure_images() -> Images:
    """Return what the stack runs on; building it all takes two minutes."""
    sandbox = ensure_image()
    with machine_lock("deploy-images"):
        python = _ensure_base(PYTHON, sandbox)
        services = _ensure_base(RECIPES / "services.Dockerfile", sandbox)
        tag = _digest(_sources(), python + services)
        names = [f"{PREFIX}{name}:{tag}" for name in _BUILT]
        if not all(image_exists(name) for name in names):
            _build(python, services, tag)
    service, sandbox_base, proxy = names
    return Images(service, sandbox_base, proxy, services)


_BUILT = ("patchwright", "patchwright-sandbox", "patchwright-proxy")
# The client that the system has. Who follows a tutorial builds with its like, and is
# given the same layers: other clients put other headers before the same files.
_SYSTEM_FIRST = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"


def ensure_machine(recipe: Path, base: str | None = None) -> str:
    """Return an image of a machine that has what its recipe says."""
    system = base or ensure_image()
    with machine_lock(f"image-{recipe.stem}"):
        return _ensure_base(recipe, system)


def ensure_wheels(image: str) -> Path:
    """Return a folder with what the project is installed from in that image."""
    with machine_lock("deploy-images"):
        return _ensure_wheels(image)


def _ensure_base(recipe: Path, base: str) -> str:
    """Make a base image, for which Debian's packages come over the network."""
    folder = recipe.parent
    tag = f"{PREFIX}{recipe.stem}:{_digest(sorted(folder.iterdir()), base)}"
    if not image_exists(tag):
        options = ["--network", "host", "--build-arg", f"BASE={base}"]
        docker("build", *options, "--file", str(recipe), "--tag", tag, str(folder))
    return tag


def _build(python: str, services: str, tag: str) -> None:
    """Build as a user would who has no network but the wheels, in a clean checkout."""
    variables = {
        "BASE": python,
        "PROXY_BASE": services,
        "REGISTRY": PREFIX,
        "PATH": _SYSTEM_FIRST,
    }
    with checkout() as folder:
        shutil.copytree(_ensure_wheels(python), folder / "deploy" / "wheels")
        run(["deploy/build", "--network", "none"], cwd=folder, environment=variables)
    for name in _BUILT:
        docker("tag", f"{PREFIX}{name}:latest", f"{PREFIX}{name}:{tag}")


@contextmanager
def checkout() -> Iterator[Path]:
    """Copy what the images are made of into a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="patchwright-deploy-") as name:
        folder = Path(name)
        for source in [
            *_sources(),
            *_in_project(TOOLS),
            ROOT / ".dockerignore",
        ]:
            target = folder / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        yield folder


def _ensure_wheels(python: str) -> Path:
    """Let the project's own script fetch them, unless these locks were fetched for."""
    version = _python_version(python)
    folder = _wheels_folder(version)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with checkout() as clean:
            path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
            command = ["deploy/fetch-wheels", version]
            run(command, cwd=clean, environment={"PATH": path})
            _add_tools(clean / "deploy" / "wheels")
            shutil.move(clean / "deploy" / "wheels", folder)
    return folder


def _add_tools(wheels: Path) -> None:
    """Fetch what `make demo` needs besides, and the pip that pipx starts with."""
    lock = (ROOT / "requirements-dev.lock").read_text()
    entry = re.search(r"(?m)^editables==.*(?:\n    .*)+$", lock)
    if entry is None:
        raise ProvisionError("requirements-dev.lock has no editables")
    with tempfile.NamedTemporaryFile("w", suffix=".lock") as file:
        file.write(entry[0])
        file.flush()
        _download(wheels, "--require-hashes", "-r", file.name)
    _download(wheels, "pip")


def _download(wheels: Path, *what: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    run([*command, "--dest", str(wheels), *what], cwd=ROOT)


def _wheels_folder(version: str) -> Path:
    locks = [ROOT / name for name in ALSO_IN_IMAGES if name.endswith(".lock")]
    scripts = [ROOT / "deploy" / name for name in ("backend.awk", "fetch-wheels")]
    return WHEELS / _digest([*locks, *scripts], version)


def _python_version(image: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return docker("run", "--rm", "--network", "none", image, "python3", "-c", code)


def _sources() -> list[Path]:
    return [*_in_project(IN_IMAGES), *(ROOT / name for name in ALSO_IN_IMAGES)]


def _in_project(folders: tuple[str, ...]) -> list[Path]:
    return [ROOT / name for name in project_files() if name.startswith(folders)]


def _digest(files: Iterable[Path], also: str) -> str:
    digest = hashlib.sha256(also.encode())
    for file in files:
        digest.update(f"{file.name}\0{file.stat().st_mode & 0o111}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
