"""Tell the agent, before its first step, what its sandbox has to run tests with."""

from typing import Final

import structlog

from patchwright.core.events.actions import (
    ControlAct,
    ControlCommand,
    Message,
    RunCommand,
)
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import CommandOutput
from patchwright.core.events.payload import Source
from patchwright.core.runtime import HostPlaces, Runtime
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import GitError, RuntimeLostError, SandboxError
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.context.sandbox_facts import (
    HEADING,
    Project,
    SandboxFacts,
    facts_text,
    find_project,
    probe_script,
    read_facts,
    texts_of,
)
from patchwright.resolver.context.test_starts import (
    files_with_starts,
    find_test_starts,
)
from patchwright.resolver.services import RunDependencies

# The import of a large package takes longest; what came before it counts all the same.
PROBE_S: Final = 5.0
_MAX_FILE_BYTES: Final = 128 * 1024
_SESSION: Final = "patchwright-facts"
_PYPROJECT: Final = "pyproject.toml"

log = structlog.get_logger(__name__)


def report_sandbox(
    runtime: Runtime, base_sha: str, dependencies: RunDependencies, start_id: int
) -> SandboxFacts | None:
    """Look around in a sandbox that was set up, and tell the agent what is there.

    That is done once a run, before the first call of a model; None if it was done. A
    sandbox that cannot be asked is not told of. Raises `RuntimeLostError`.
    """
    if _has_begun(dependencies.log, start_id):
        return None
    try:
        project = read_project(dependencies.code, base_sha)
        facts = ask_sandbox(runtime, project)
    except RuntimeLostError:
        raise
    except (SandboxError, GitError) as error:
        log.warning("sandbox_not_described", error=str(error))
        return None
    places = dependencies.spec.places
    text = facts_text(facts, project, _own_folders(places), places.checkout)
    if text:
        dependencies.log.append(Source.SYSTEM, Message(text=text))
    return facts


def read_project(code: ObjectStore, base_sha: str) -> Project:
    """Return what the files of a commit say about its tests; raises `GitError`."""
    paths = code.list_files(base_sha)
    wanted = files_with_starts(paths)
    texts = texts_of(code.read_files(base_sha, wanted, _MAX_FILE_BYTES))
    return find_project(paths, texts.get(_PYPROJECT, ""), find_test_starts(texts))


def ask_sandbox(runtime: Runtime, project: Project) -> SandboxFacts:
    """Run one script in the sandbox's repository; raises `SandboxError`."""
    if not project.ecosystems:
        return SandboxFacts()
    action = RunCommand(
        command=probe_script(project), session=_SESSION, timeout_s=PROBE_S
    )
    output = runtime.run(action, RandomIds().new())
    if not isinstance(output, CommandOutput):
        raise SandboxError(f"the sandbox could not be asked: {output}")
    if output.still_running:
        kill = ControlCommand(handle=output.handle, act=ControlAct.KILL)
        runtime.run(kill, RandomIds().new())
    return read_facts(output.output)


def _has_begun(events: EventLog, start_id: int) -> bool:
    """Tell whether the agent was told, or has worked already without being told."""
    kinds = frozenset({"message", "model_reply"})
    return any(
        not isinstance(event.payload, Message)
        or (event.source is Source.SYSTEM and event.payload.text.startswith(HEADING))
        for event in events.read(start_id, kinds=kinds)
    )


def _own_folders(places: HostPlaces) -> tuple[str, ...]:
    """Return the folders of the checkout that the sandbox shows, by their own paths."""
    own = f"{places.checkout}/"
    return tuple(
        one.place.removeprefix(own)
        for one in places.shown
        if places.checkout and one.place.startswith(own)
    )
