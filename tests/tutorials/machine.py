"""The machine of who follows a tutorial: a clean container, and terminals to it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.deploy.docker_cli import docker
from tests.deploy.images import ensure_machine, ensure_wheels
from tests.provision.image import ensure_image, ensure_other_image
from tests.provision.waiting import wait_until
from tests.tutorials.shell import Shell

RECIPES = Path(__file__).parent / "image"
# Where the service listens, as the pages say, and where a proxy before it does.
PORT, OPEN_PORT = 8080, 8000
# The sandbox of those who have no engine wants to make namespaces.
WITHOUT_ENGINE = ("--privileged",)
# Some packages are large, and a machine that runs tests is busy.
LONG_S = 700.0


@dataclass(frozen=True)
class Reader:
    """Whose machine it is: what it has, and of which release of the distribution."""

    recipe: Path
    has_other_release: bool = False


READER = Reader(RECIPES / "reader.Dockerfile")
PIPX_READER = Reader(RECIPES / "pipx.Dockerfile", has_other_release=True)


def ensure(reader: Reader) -> tuple[str, Path]:
    """Return the image of that machine, and what its Python installs packages from."""
    base = ensure_other_image() if reader.has_other_release else ensure_image()
    image = ensure_machine(reader.recipe, base)
    return image, ensure_wheels(image)


@dataclass
class Machine:
    """One container; `folder` is where a new terminal opens, if not at home."""

    container: str
    folder: str = ""
    _terminals: ExitStack = field(default_factory=ExitStack)
    _open: dict[str, Shell] = field(default_factory=dict)

    def terminal(self, name: str = "") -> Shell:
        """Return the terminal of that name; it is opened when first asked for."""
        if name not in self._open:
            shell = self._terminals.enter_context(Shell(self.container, self.folder))
            self._open[name] = shell
        return self._open[name]

    def run(self, *argv: str) -> str:
        """Run a program beside what the reader does; return what it said."""
        return docker("exec", self.container, *argv)

    def type(self, text: str) -> str:
        """Let the reader's first terminal run these lines; return what they said."""
        shell = self.terminal()
        shell.type(text)
        shell.finish(LONG_S)
        return shell.output

    def append(self, file: str, text: str) -> None:
        """Write at the end of a file, below where the first terminal stands."""
        self.type(f"mkdir -p $(dirname {file})")
        self.type(f"cat >> {file} <<'END OF FILE'\n{text}\nEND OF FILE")

    def set(self, file: str, text: str) -> None:
        """Write into a file of settings, each in place of the one that is there."""
        for line in text.splitlines():
            name = line.partition("=")[0]
            self.type(f"sed -i '/^{name}=/d' {file}")
        self.append(file, text)

    def interrupt(self, name: str) -> None:
        """Press Ctrl-C in a terminal, and wait until what ran there has ended."""
        shell = self.terminal(name)
        wait_until(lambda: bool(self._children(shell)), "something to stop", 10)
        for child in self._children(shell):
            self.run("bash", "-c", f"kill -INT {child}")
        shell.finish(LONG_S)

    def _children(self, shell: Shell) -> list[str]:
        file = f"/proc/{shell.pid}/task/{shell.pid}/children"
        return self.run("cat", file).split()

    def close(self) -> None:
        self._terminals.close()

    def open_to_the_world(self) -> None:
        """Lead to the port of the service, which is on its loopback alone."""
        listen = f"TCP-LISTEN:{OPEN_PORT},fork,reuseaddr"
        docker(
            "exec", "--detach", self.container, "socat", listen, f"TCP:127.0.0.1:{PORT}"
        )

    def place(self) -> tuple[str, int]:
        """Return where the open port of that machine is on this one."""
        published = docker("port", self.container, f"{OPEN_PORT}/tcp").splitlines()[0]
        host, _, port = published.rpartition(":")
        return host, int(port)


@contextmanager
def machine(
    network: str,
    hosts: Mapping[str, str],
    bundle: Path,
    options: Sequence[str],
    reader: Reader = READER,
) -> Iterator[Machine]:
    """Start one that knows these hosts, and trusts this authority as all others."""
    image, wheels = ensure(reader)
    known = [f"--add-host={name}:{address}" for name, address in hosts.items()]
    container = docker(
        *("run", "--detach", "--init", "--network", network, *known),
        *("--publish", f"127.0.0.1::{OPEN_PORT}"),
        *("--volume", f"{wheels}:/wheels:ro"),
        *("--volume", f"{bundle}:/usr/local/share/ca-certificates/world.crt:ro"),
        *(*options, image, "sleep", "infinity"),
    )
    ready = Machine(container)
    try:
        docker("exec", "--user", "0", container, "update-ca-certificates")
        yield ready
    finally:
        ready.close()
        docker("rm", "--force", "--volumes", container)
