"""Check the sandbox by starting one as runs do, and trying out what holds it."""

from collections.abc import Iterator
from importlib import resources
from typing import Final

from pydantic import ValidationError

from patchwright.core.errors import SandboxError
from patchwright.core.events.types import CommandOutput, RunCommand
from patchwright.core.runtime import Runtime, RuntimeFactory
from patchwright.core.settings.work import SandboxSettings
from patchwright.core.types.base import Value
from patchwright.core.types.ids import RandomIds
from patchwright.sandbox.choose import choose
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.docker.stock import has_image
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import Finding, combine, failed, ok, warning
from patchwright.workers.run.spec import sandbox_spec

# Small limits, so that to reach for more does not harm the machine.
_MEMORY_MIB: Final = 256
_PROCESSES: Final = 64
_LIFETIME_S: Final = 120.0
_COMMAND_S: Final = 40.0
_NO_PLACE: Final = (
    "start Docker (systemctl start docker) and let this user use it, or install "
    "bubblewrap and set sandbox.kind to local"
)
_CHOOSE: Final = "choose an image with git and Python 3.8 or newer: sandbox.image"
_FITTING: Final = f"{_CHOOSE}; and a sandbox.runtime that `docker info` lists"
_UNCONFINED: Final = "unconfined: nothing holds the agent's commands back"
# With an engine the kernel's cgroups hold the memory.
_WATCHED: Final = " (memory is watched, ten times a second; nothing holds sandbox.cpus)"
_CGROUPS: Final = (
    "see what `docker info` warns of: the kernel needs the cgroups `memory` and `pids`"
)


class Trial(Value):
    """What was found inside; `git` is its version, or empty."""

    python: str
    is_root: bool
    has_network: bool
    holds_memory: bool
    holds_processes: bool
    git: str = ""


def check(context: Case) -> Finding:
    wanted = context.settings.sandbox
    if wanted.kind == "unconfined":
        return warning(_UNCONFINED, "set sandbox.kind to docker or local")
    try:
        runtimes = choose(wanted.kind, context.clock, wanted.image)
    except SandboxError as error:
        return explained(error, _NO_PLACE)
    try:
        if runtimes.kind == "docker" and not has_image(wanted.image):
            return _not_there(wanted.image)
        return judge(_try(context, runtimes), runtimes.kind, wanted)
    except SandboxError as error:
        return explained(error, _FITTING)
    finally:
        if isinstance(runtimes, DockerRuntimes):
            runtimes.close()


def judge(trial: Trial, kind: str, wanted: SandboxSettings) -> Finding:
    place = f"{kind}, {wanted.image}" if kind == "docker" else kind
    tools = f"git {trial.git}, Python {trial.python}"
    words = f"{tools}; network `{wanted.network}` and limits hold"
    watched = _WATCHED if kind == "bubblewrap" else ""
    return combine((ok(f"{place}: {words}{watched}"), *_wrong(trial, wanted)))


def _wrong(trial: Trial, wanted: SandboxSettings) -> Iterator[Finding]:
    if not trial.git:
        yield failed("there is no git in the sandbox", _CHOOSE)
    if trial.is_root:
        yield failed("commands run as root", "set sandbox.kind to docker or local")
    if trial.has_network and wanted.network != "allow":
        yield failed(
            f"the network can be reached, and sandbox.network is {wanted.network}",
            "look whether a plug-in or the engine gives sandboxes another network",
        )
    if not trial.holds_memory:
        yield failed("the limit of memory does not hold", _CGROUPS)
    if not trial.holds_processes:
        yield failed("the limit of processes does not hold", _CGROUPS)


def _not_there(image: str) -> Finding:
    return failed(
        f"the engine has no image {image}",
        f"docker pull {image} (or the first run waits for it); or build one by "
        "deploy/sandbox.Dockerfile and name it in sandbox.image",
    )


def _try(context: Case, runtimes: RuntimeFactory) -> Trial:
    spec = sandbox_spec(context.settings, f"doctor-{RandomIds().new()}").replace(
        memory=f"{_MEMORY_MIB}m",
        max_processes=_PROCESSES,
        lifetime_s=_LIFETIME_S,
    )
    runtime = runtimes.start(spec)
    try:
        return _look_inside(runtime)
    finally:
        runtime.close()


def _look_inside(runtime: Runtime) -> Trial:
    action = RunCommand(
        command=f"git --version; python3 - {_MEMORY_MIB} {_PROCESSES}",
        session="doctor",
        stdin=_program(),
        timeout_s=_COMMAND_S,
    )
    seen = runtime.run(action, RandomIds().new())
    said = seen.output if isinstance(seen, CommandOutput) else ""
    try:
        [*first, last] = said.strip().splitlines()
        trial = Trial.model_validate_json(last)
    except (ValueError, ValidationError):
        words = " ".join(said.split())[-200:]
        raise SandboxError(f"the trial inside came to no end: {words}") from None
    return trial.replace(git=_git_version(first))


def _git_version(lines: list[str]) -> str:
    told = [
        line.removeprefix("git version ") for line in lines if "git version" in line
    ]
    return told[0] if told else ""


def _program() -> str:
    inside = resources.files("patchwright.sandbox.inside")
    return inside.joinpath("trial.py").read_text()
