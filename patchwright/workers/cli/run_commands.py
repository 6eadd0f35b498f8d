"""The commands `resolve`, `prove`, `replay` and `runs`, with their options."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.workers.cli.commands import AsJson, add_group, load_handler
from patchwright.workers.runs.selection import RunStage


class DeliveryChoice(StrEnum):
    """How a change is delivered. A pull request is ready only if it is proven."""

    NONE = "none"
    PATCH = "patch"
    BRANCH = "branch"
    DRAFT = "draft"
    READY = "ready"


class FailOn(StrEnum):
    """When the exit code is not 0 though nothing has failed."""

    UNRESOLVED = "unresolved"
    UNPROVEN = "unproven"


class SandboxKind(StrEnum):
    AUTO = "auto"
    DOCKER = "docker"
    LOCAL = "local"


@dataclass(frozen=True)
class ResolveOptions:
    """What `resolve` is asked to do: `url`, `issue` and `task` say about what.

    `flags` are settings by their dotted names, None where one was not given. With
    `applies` the change comes into the work tree besides. `as_object` wants one JSON
    object, `streams` one for each event, and `quiet` no words on the way. `fail_on` is
    what the exit code is 1 for.
    """

    url: str | None
    repo: Path | None
    issue: Path | None
    task: str | None
    deliver: DeliveryChoice | None
    flags: Mapping[str, object]
    events: Path | None
    applies: bool
    as_object: bool
    quiet: bool
    fail_on: FailOn
    streams: bool = False

    @property
    def prints_json(self) -> bool:
        return self.as_object or self.streams

    @property
    def is_silent(self) -> bool:
        """Whether there are no words but the result."""
        return self.quiet or self.prints_json


@dataclass(frozen=True)
class ProveOptions:
    """What `prove` is asked to prove: what the commit `head` adds to `base`.

    Without `commands` those are run that the repository or the change's tests name.
    `setup` replaces the repository's own.
    """

    base: str
    head: str
    commands: tuple[str, ...]
    setup: tuple[str, ...]
    repo: Path | None
    flags: Mapping[str, object]
    as_object: bool
    quiet: bool

    @property
    def is_silent(self) -> bool:
        """Whether there are no words but the result."""
        return self.quiet or self.as_object


@dataclass(frozen=True)
class ReplayOptions:
    """What `replay` is asked to show of a file, or with `reruns` to run again."""

    file: Path
    run: str | None
    step: int | None
    export: Path | None
    reruns: bool
    repo: Path | None
    sandbox: SandboxKind | None
    events: Path | None
    as_object: bool


def add_run_commands(app: typer.Typer) -> None:
    app.command("resolve")(_resolve)
    app.command("prove")(_prove)
    app.command("replay")(_replay)
    add_group(
        app,
        "runs",
        "Show and control the runs of the service and of this machine.",
        {
            "list": _runs_list,
            "show": _runs_show,
            "stop": _runs_stop,
            "retry": _runs_retry,
            "export": _runs_export,
            "bundle": _runs_bundle,
        },
    )


def _resolve(
    url: Annotated[
        str | None, typer.Argument(help="URL of an issue or pull request.")
    ] = None,
    *,
    repo: Annotated[
        Path | None,
        typer.Option(
            help="A repository on this machine; by default the current folder."
        ),
    ] = None,
    issue: Annotated[
        Path | None,
        typer.Option(help="A file that describes the problem; - is standard input."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The task, as text.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Name of the model as litellm writes it: provider/model."),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Highest cost of the run, in USD.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(help="Highest number of model calls.")
    ] = None,
    sandbox: Annotated[
        SandboxKind | None, typer.Option(help="Where commands run.")
    ] = None,
    deliver: Annotated[
        DeliveryChoice | None,
        typer.Option(
            help="How to deliver the change; by default a branch in a local "
            "repository, and a draft pull request for a URL."
        ),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Copy the change into your work tree too, unless that would "
            "overwrite something.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    json_stream: Annotated[
        bool,
        typer.Option(
            "--json-stream",
            help="Print each event as it comes, one JSON object a line, and the object "
            "of --json last.",
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show only the result.")
    ] = False,
    events: Annotated[
        Path | None, typer.Option(help="Write the run's events to this new file.")
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="When the exit code is 1: if it is not resolved, or also if the "
            "change is not proven."
        ),
    ] = FailOn.UNRESOLVED,
) -> None:
    """Work on an issue, given by its URL, as a text file or as text.

    The exit code is 0 when it is resolved, answered or planned, 1 for any other
    end, 2 for wrong usage, 3 if a service, the model or the sandbox failed, and 130
    after Ctrl-C. With --fail-on unproven it is also 1 for a change without a proof.
    """
    flags = {
        "llm.model": model,
        "limits.max_cost_usd": max_cost,
        "limits.max_iterations": max_iterations,
        "sandbox.kind": sandbox.value if sandbox else None,
    }
    options = ResolveOptions(
        url,
        repo,
        issue,
        task,
        deliver,
        flags,
        events,
        apply,
        json,
        quiet,
        fail_on,
        json_stream,
    )
    run = load_handler("cli.resolve_handler", "run_resolve")
    raise typer.Exit(run(options))


BaseRef = Annotated[
    str,
    typer.Option(
        metavar="REF",
        help="The branch or commit that the change is for; it is compared with "
        "the newest commit that both have.",
    ),
]
HeadRef = Annotated[
    str,
    typer.Option(metavar="REF", help="The branch or commit of the change."),
]
TestCommands = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COMMAND",
        help="A command that fails without the change and passes with it; can be "
        "repeated. By default the tests of the change, or `test` of "
        ".patchwright.toml.",
    ),
]
SetUpCommands = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COMMAND",
        help="A command that prepares each sandbox; can be repeated. By default "
        "`setup` of .patchwright.toml.",
    ),
]
LocalFolder = Annotated[
    Path | None,
    typer.Option(help="A repository on this machine; by default the current folder."),
]
CommandSandbox = Annotated[SandboxKind | None, typer.Option(help="Where commands run.")]
ResultAlone = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show only the result.")
]


def _prove(
    *,
    base: BaseRef,
    head: HeadRef = "HEAD",
    command: TestCommands = None,
    setup: SetUpCommands = None,
    repo: LocalFolder = None,
    sandbox: CommandSandbox = None,
    json: AsJson = False,
    quiet: ResultAlone = False,
) -> None:
    """Prove the change on a branch, whoever made it, without a model.

    The tests run in fresh sandboxes, without the change and with it, as for a change
    of the agent. Settings are read from .patchwright.toml as it was before the change.

    The exit code is 0 when the change is proven, 1 when it is not, 2 for wrong
    usage, and 3 if the sandbox failed.
    """
    options = ProveOptions(
        base=base,
        head=head,
        commands=tuple(command or ()),
        setup=tuple(setup or ()),
        repo=repo,
        flags={"sandbox.kind": sandbox.value if sandbox else None},
        as_object=json,
        quiet=quiet,
    )
    raise typer.Exit(load_handler("cli.prove_handler", "run_prove")(options))


ReplayFile = Annotated[Path, typer.Argument(help="A log of events, or a trajectory.")]
RunPrefix = Annotated[
    str | None,
    typer.Option("--run", help="Which run of the log: the beginning of its id."),
]
StepNumber = Annotated[
    int | None, typer.Option("--step", min=1, help="Show this step in full.")
]
ExportFile = Annotated[
    Path | None, typer.Option(help="Write the run to this new file, as a trajectory.")
]
RerunFlag = Annotated[
    bool, typer.Option("--rerun", help="Run it again and report differences.")
]
RerunRepo = Annotated[
    Path | None, typer.Option(help="With --rerun: the repository of the recorded run.")
]
RerunSandbox = Annotated[
    SandboxKind | None, typer.Option(help="With --rerun: where commands run.")
]
RerunEvents = Annotated[
    Path | None, typer.Option(help="With --rerun: write its events to this new file.")
]


def _replay(
    file: ReplayFile,
    *,
    run: RunPrefix = None,
    step: StepNumber = None,
    export: ExportFile = None,
    rerun: RerunFlag = False,
    repo: RerunRepo = None,
    sandbox: RerunSandbox = None,
    events: RerunEvents = None,
    json: AsJson = False,
) -> None:
    """Show a recorded run, or run it again, offline and at no cost.

    With --rerun the exit code is 0 if all is the same, 1 if not, 2 for wrong
    usage, and 3 if it could not be run.
    """
    options = ReplayOptions(file, run, step, export, rerun, repo, sandbox, events, json)
    run_replay = load_handler("cli.replay_handler", "run_replay")
    raise typer.Exit(run_replay(options))


def _complete_id(incomplete: str) -> list[str]:
    found: list[str] = load_handler("runs.known_ids", "known_ids")(incomplete)
    return found


RunId = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run's id, or its beginning.",
        autocompletion=_complete_id,
    ),
]


def _runs_list(
    *,
    state: Annotated[
        RunStage | None, typer.Option(help="Only runs in this state.")
    ] = None,
    outcome: Annotated[
        OutcomeKind | None, typer.Option(help="Only runs with this outcome.")
    ] = None,
    repo: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="Only runs in this repository.")
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, help="Highest number of runs to list.")
    ] = 20,
    json: AsJson = False,
) -> None:
    """List runs, the newest first: those of the service, and local ones."""
    load_handler("cli.runs_handler", "list_runs")(
        state, outcome, repo, limit, as_object=json
    )


def _runs_show(
    run: RunId,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Watch the run until it ends.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show a run: its facts, its steps, its evidence, and where its result is.

    With --follow the exit code is the one that `resolve` has for that outcome.
    """
    raise typer.Exit(
        load_handler("cli.runs_handler", "show_run")(
            run, follows=follow, as_object=json
        )
    )


def _runs_stop(run: RunId, *, json: AsJson = False) -> None:
    """Stop a run; its work is kept, as after a `stop` in its thread."""
    load_handler("cli.runs_handler", "stop_run")(run, as_object=json)


def _runs_retry(run: RunId, *, json: AsJson = False) -> None:
    """Start a new run for the same request; it answers in the same thread."""
    load_handler("cli.runs_handler", "retry_run")(run, as_object=json)


def _runs_export(
    run: RunId,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write to this new file; standard output by default."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Write a run as a trajectory for `replay`, without secrets."""
    load_handler("cli.runs_handler", "export_run")(run, out, as_object=json)


def _runs_bundle(
    run: RunId,
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write to this new file; work-RUN.bundle by default."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Write the work of a run as a Git bundle, if no branch has it.

    In a clone of the repository, `git fetch` takes the commit out of the file. It is
    as the agent left it: nobody has looked for secrets in it.
    """
    load_handler("cli.runs_handler", "bundle_run")(run, out, as_object=json)
