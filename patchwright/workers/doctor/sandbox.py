"""Check the sandbox: start a real one, and see what it holds."""

from collections.abc import Iterator
from importlib import resources
from typing import Final

from pydantic import ValidationError

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    result_of_error,
    warning,
)
from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime, RuntimeFactory
from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.types.base import RandomIds, Value
from patchwright.core.types.errors import SandboxError
from patchwright.resolver.set_up.sandboxes import sandbox_spec
from patchwright.sandbox.docker.engine import has_image
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.factory import create_factory, find_fallback

# Small limits, so that to reach for more does not harm the machine.
_PROBE_MEMORY_MIB: Final = 256
_PROBE_PROCESSES: Final = 64
_PROBE_LIFETIME_S: Final = 120.0
_PROBE_COMMAND_S: Final = 40.0
_FIX_NO_SANDBOX: Final = (
    "start Docker (systemctl start docker) and give this user access to it, or "
    "install bubblewrap and set sandbox.kind to local"
)
_FIX_IMAGE: Final = "choose an image with git and Python 3.8 or newer: sandbox.image"
_FIX_IMAGE_OR_RUNTIME: Final = (
    f"{_FIX_IMAGE}, and a sandbox.runtime that `docker info` lists"
)
_UNCONFINED: Final = "unconfined: nothing restricts the agent's commands"
# With an engine the kernel's cgroups hold the memory.
_MEMORY_IS_WATCHED: Final = (
    " (memory is measured ten times a second; sandbox.cpus has no effect)"
)
_FIX_CGROUPS: Final = (
    "see the warnings of `docker info`: the kernel needs the cgroups `memory` and "
    "`pids`"
)


class SandboxProbe(Value):
    """What was found inside; `git` is its version, or empty."""

    python: str
    is_root: bool
    has_network: bool
    holds_memory: bool
    holds_processes: bool
    git: str = ""


def check_sandbox(context: CheckContext) -> CheckResult:
    wanted = context.settings.sandbox
    if wanted.kind == "unconfined":
        return warning(_UNCONFINED, "set sandbox.kind to docker or local")
    try:
        runtimes = create_factory(wanted.kind, context.clock, wanted.image)
    except SandboxError as error:
        return result_of_error(error, _FIX_NO_SANDBOX)
    try:
        if isinstance(runtimes, DockerRuntimes) and not has_image(wanted.image):
            return _missing_image(wanted.image, runtimes.why_not_available())
        judged = judge_sandbox(_probe_sandbox(context, runtimes), runtimes.kind, wanted)
        fallback = find_fallback(runtimes)
        if fallback is None:
            return judged
        used = f"{fallback.reason}; bubblewrap is used"
        return combine((judged, warning(used, fallback.remedy)))
    except SandboxError as error:
        return result_of_error(error, _FIX_IMAGE_OR_RUNTIME)
    finally:
        if isinstance(runtimes, DockerRuntimes):
            runtimes.close()


def judge_sandbox(
    probe: SandboxProbe, kind: str, wanted: SandboxSettings
) -> CheckResult:
    place = f"{kind}, {wanted.image}" if kind == "docker" else kind
    tools = f"git {probe.git}, Python {probe.python}"
    words = f"{tools}; network `{wanted.network}` and limits work"
    watched = _MEMORY_IS_WATCHED if kind == "bubblewrap" else ""
    return combine(
        (ok(f"{place}: {words}{watched}"), *_sandbox_problems(probe, wanted))
    )


def _sandbox_problems(
    probe: SandboxProbe, wanted: SandboxSettings
) -> Iterator[CheckResult]:
    if not probe.git:
        yield failed("there is no git in the sandbox", _FIX_IMAGE)
    if probe.is_root:
        yield failed("commands run as root", "set sandbox.kind to docker or local")
    if probe.has_network and wanted.network != "allow":
        yield failed(
            f"the network can be reached, and sandbox.network is {wanted.network}",
            "check if a plug-in or the engine gives sandboxes another network",
        )
    if not probe.holds_memory:
        yield failed("the memory limit does not work", _FIX_CGROUPS)
    if not probe.holds_processes:
        yield failed("the process limit does not work", _FIX_CGROUPS)


def _missing_image(image: str, reason: str) -> CheckResult:
    found = f"the engine has no image {image}"
    if not reason:
        return warning(
            f"{found} yet: the first run waits until it is pulled",
            f"docker pull {image}, to test the sandbox",
        )
    return failed(
        f"{found} and cannot pull it ({reason})",
        f"docker pull {image}, or set sandbox.image to an image that is there "
        "(deploy/sandbox.Dockerfile builds one)\n"
        "or set sandbox.kind to local, which needs no image",
    )


def _probe_sandbox(context: CheckContext, runtimes: RuntimeFactory) -> SandboxProbe:
    spec = sandbox_spec(context.settings, f"doctor-{RandomIds().new()}").replace(
        memory=f"{_PROBE_MEMORY_MIB}m",
        max_processes=_PROBE_PROCESSES,
        lifetime_s=_PROBE_LIFETIME_S,
    )
    runtime = runtimes.start(spec)
    try:
        return _run_probe(runtime)
    finally:
        runtime.close()


def _run_probe(runtime: Runtime) -> SandboxProbe:
    action = RunCommand(
        command=f"git --version; python3 - {_PROBE_MEMORY_MIB} {_PROBE_PROCESSES}",
        session="doctor",
        stdin=_probe_program(),
        timeout_s=_PROBE_COMMAND_S,
    )
    seen = runtime.run(action, RandomIds().new())
    output = seen.output if isinstance(seen, CommandOutput) else ""
    try:
        [*first, last] = output.strip().splitlines()
        probe = SandboxProbe.model_validate_json(last)
    except (ValueError, ValidationError):
        words = " ".join(output.split())[-200:]
        raise SandboxError(f"the test in the sandbox did not end: {words}") from None
    return probe.replace(git=_git_version(first))


def _git_version(lines: list[str]) -> str:
    told = [
        line.removeprefix("git version ") for line in lines if "git version" in line
    ]
    return told[0] if told else ""


def _probe_program() -> str:
    inside = resources.files("patchwright.sandbox.inside")
    return inside.joinpath("probe.py").read_text()
