"""The commands `resolve`, `prove`, `replay` and `runs`, with their options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from patchwright.core.types.errors import SettingsError
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
class TypedTarget:
    """What to work on, as it was typed: a `word` without an option, and the options."""

    word: str | None = None
    repo: str | None = None
    issue: str | None = None
    file: Path | None = None
    task: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ResolveOptions:
    """What `resolve` is asked to do.

    `flags` are settings by their dotted names, None where one was not given. With
    `plans` the run ends with a plan. `tests` replace the repository's own. With
    `applies` the change comes into the work tree besides. `as_object` wants one JSON
    object, and `quiet` no words on the way. `fail_on` is what the exit code is 1 for.
    """

    target: TypedTarget
    plans: bool
    tests: tuple[str, ...]
    deliver: DeliveryChoice | None
    flags: Mapping[str, object]
    config: Path | None
    events: Path | None
    applies: bool
    as_object: bool
    quiet: bool
    is_verbose: bool
    fail_on: FailOn


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
    folder: Path
    config: Path | None
    flags: Mapping[str, object]
    as_object: bool
    quiet: bool

    @property
    def is_silent(self) -> bool:
        """Whether there are no words but the result."""
        return self.quiet or self.as_object


@dataclass(frozen=True)
class ReplayOptions:
    """What `replay` is asked to show, or with `reruns` to run again.

    `recording` is a file, or the beginning of the id of a run.
    """

    recording: str
    run: str | None
    step: int | None
    export: Path | None
    reruns: bool
    folder: Path | None
    sandbox: SandboxKind | None
    events: Path | None
    as_object: bool


def add_run_commands(app: typer.Typer) -> None:
    app.command("resolve", epilog=RESOLVE_EXAMPLES)(_resolve)
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


_TARGET: Final = "What to work on"
_WORK: Final = "How to work"
_RESULT: Final = "What to do with the result"
_OUTPUT: Final = "What to show"


def read_minutes(text: str) -> float:
    """Return minutes: a number of them, or a time such as 90s, 45m, 1h or 1h30m."""
    if found := re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    found = _TIME.fullmatch(text)
    if found is None or not text:
        raise typer.BadParameter(
            f"{text!r} is not a time; use minutes, or 90s, 45m, 1h or 1h30m"
        )
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return hours * 60 + minutes + seconds / 60


_TIME: Final = re.compile(
    r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?"
)

CheckoutFolder = Annotated[
    Path | None,
    typer.Option(
        *("--path", "-C"),
        metavar="FOLDER",
        help="Work in the checkout in this folder; the default is the current one.",
        rich_help_panel=_TARGET,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Read settings from this file, instead of patchwright.toml.",
        rich_help_panel=_WORK,
    ),
]
ReplacedTests = Annotated[
    list[str] | None,
    typer.Option(
        "--test",
        metavar="COMMAND",
        help="A command that tests the change; can be repeated. The default is `test` "
        "of .patchwright.toml, or the tests that the change brings.",
        rich_help_panel=_WORK,
    ),
]
ChosenSandbox = Annotated[
    SandboxKind | None,
    typer.Option(metavar="KIND", help="Where commands run.", rich_help_panel=_WORK),
]
OneObject = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object and nothing else.",
        rich_help_panel=_OUTPUT,
    ),
]
ResultAlone = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Show only the result.", rich_help_panel=_OUTPUT
    ),
]

RESOLVE_EXAMPLES: Final = """\
Examples:
  patchwright resolve 7
  patchwright resolve acme/shop#7 --deliver patch
  patchwright resolve "3 pieces cost 450 for all of them, not 1350"
  patchwright resolve -C ../shop --file bug.md --test "pytest -q"
  patchwright resolve 7 --plan --max-cost 0.50 --timeout 10m
"""


def _resolve(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="An issue or pull request (7, OWNER/NAME#7 or a URL), a task in "
            "quotes, or - for a task from standard input.",
        ),
    ] = None,
    *,
    repo: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="The repository of the issue; the default is that of the checkout.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    issue: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Number of an issue or pull request.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="A task in words, for the checkout.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A task from a file; - is standard input.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    path: CheckoutFolder = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Only write a plan: nothing is changed.",
            rich_help_panel=_WORK,
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model, as provider/model.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    test: ReplacedTests = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            metavar="USD",
            help="Highest cost of the run, in US dollars.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Highest number of model calls.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="TIME",
            parser=read_minutes,
            help="Longest time of the run: minutes, or 90s, 45m, 1h.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    sandbox: ChosenSandbox = None,
    config: ConfigFile = None,
    deliver: Annotated[
        DeliveryChoice | None,
        typer.Option(
            metavar="HOW",
            help="How to deliver the change. The default is a branch in the checkout, "
            "and a draft pull request for an issue on the forge.",
            rich_help_panel=_RESULT,
        ),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Copy the change into your work tree too, unless that would "
            "overwrite something.",
            rich_help_panel=_RESULT,
        ),
    ] = False,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            metavar="WHEN",
            help="When the exit code is 1: if the issue is not resolved, or also if "
            "the change is not proven.",
            rich_help_panel=_RESULT,
        ),
    ] = FailOn.UNRESOLVED,
    events: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the run's events to this new file.",
            rich_help_panel=_RESULT,
        ),
    ] = None,
    json: OneObject = False,
    quiet: ResultAlone = False,
    verbose: Annotated[
        bool,
        typer.Option(
            *("--verbose", "-v"),
            help="Log more, on standard error.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
) -> None:
    """Work on an issue, a pull request or a task in words.

    The exit code is 0 when it is resolved, answered or planned, 1 for any other end,
    2 for wrong usage or settings, and 3 if a service, the model or the sandbox failed.
    """
    flags = {
        "llm.model": model,
        "limits.max_cost_usd": max_cost,
        "limits.max_iterations": max_iterations,
        "limits.timeout_minutes": timeout,
        "sandbox.kind": sandbox.value if sandbox else None,
    }
    options = ResolveOptions(
        target=TypedTarget(target, repo, issue, file, task, path),
        plans=plan,
        tests=tuple(test or ()),
        deliver=deliver,
        flags=flags,
        config=config,
        events=events,
        applies=apply,
        as_object=json,
        quiet=quiet,
        is_verbose=verbose,
        fail_on=fail_on,
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
        "--test",
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
ProvedFolder = Annotated[
    Path | None,
    typer.Option(
        *("--path", "-C"),
        metavar="FOLDER",
        help="The checkout that has the change; the default is the current folder.",
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Read settings from this file, not patchwright.toml."
    ),
]
CommandSandbox = Annotated[
    SandboxKind | None, typer.Option(metavar="KIND", help="Where commands run.")
]
OnlyResult = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show only the result.")
]
# What these options were called before; each is answered with its new name.
OldRepo = Annotated[str | None, typer.Option("--repo", hidden=True)]
OldCommand = Annotated[list[str] | None, typer.Option("--command", hidden=True)]


def _refuse_old_repo(repo: str | None) -> None:
    if repo is not None:
        raise SettingsError(f"--repo is OWNER/NAME; for a folder use -C {repo}")


def _prove(
    *,
    base: BaseRef,
    head: HeadRef = "HEAD",
    test: TestCommands = None,
    setup: SetUpCommands = None,
    path: ProvedFolder = None,
    sandbox: CommandSandbox = None,
    config: SettingsFile = None,
    json: AsJson = False,
    quiet: OnlyResult = False,
    repo: OldRepo = None,
    command: OldCommand = None,
) -> None:
    """Prove the change on a branch, whoever made it, without a model.

    The tests run in fresh sandboxes, without the change and with it, as for a change
    of the agent. Settings are read from .patchwright.toml as it was before the change.

    The exit code is 0 when the change is proven, 1 when it is not, 2 for wrong
    usage, and 3 if the sandbox failed.
    """
    _refuse_old_repo(repo)
    if command:
        typer.echo("notice: --command is now called --test", err=True)
    options = ProveOptions(
        base=base,
        head=head,
        commands=(*(test or ()), *(command or ())),
        setup=tuple(setup or ()),
        folder=path or Path(),
        config=config,
        flags={"sandbox.kind": sandbox.value if sandbox else None},
        as_object=json,
        quiet=quiet,
    )
    raise typer.Exit(load_handler("cli.prove_handler", "run_prove")(options))


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


Recording = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The id of a run, or its beginning; or a file with a log of events or a "
        "trajectory.",
        autocompletion=_complete_id,
    ),
]
RunPrefix = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="ID",
        help="Which run of a log with several: the beginning of its id.",
    ),
]
StepNumber = Annotated[
    int | None,
    typer.Option("--step", min=1, metavar="NUMBER", help="Show this step in full."),
]
ExportFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write the run to this new file, as a trajectory."
    ),
]
RerunFlag = Annotated[
    bool, typer.Option("--rerun", help="Run it again and report differences.")
]
RerunFolder = Annotated[
    Path | None,
    typer.Option(
        *("--path", "-C"),
        metavar="FOLDER",
        help="With --rerun: a checkout of the repository of the recorded run.",
    ),
]
RerunSandbox = Annotated[
    SandboxKind | None,
    typer.Option(metavar="KIND", help="With --rerun: where commands run."),
]
RerunEvents = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="With --rerun: write its events to this new file."
    ),
]


def _replay(
    recording: Recording,
    *,
    run: RunPrefix = None,
    step: StepNumber = None,
    export: ExportFile = None,
    rerun: RerunFlag = False,
    path: RerunFolder = None,
    sandbox: RerunSandbox = None,
    events: RerunEvents = None,
    json: AsJson = False,
    repo: OldRepo = None,
) -> None:
    """Show a recorded run, or run it again, offline and at no cost.

    With --rerun the exit code is 0 if all is the same, 1 if not, 2 for wrong
    usage, and 3 if it could not be run.
    """
    _refuse_old_repo(repo)
    options = ReplayOptions(
        recording, run, step, export, rerun, path, sandbox, events, json
    )
    run_replay = load_handler("cli.replay_handler", "run_replay")
    raise typer.Exit(run_replay(options))


def _runs_list(
    *,
    state: Annotated[
        RunStage | None, typer.Option(metavar="STATE", help="Only runs in this state.")
    ] = None,
    outcome: Annotated[
        OutcomeKind | None,
        typer.Option(metavar="OUTCOME", help="Only runs with this outcome."),
    ] = None,
    repo: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="Only runs in this repository.")
    ] = "",
    limit: Annotated[
        int,
        typer.Option(min=1, metavar="NUMBER", help="Highest number of runs to list."),
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
        typer.Option(
            metavar="FILE", help="Write to this new file; standard output by default."
        ),
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
        typer.Option(
            metavar="FILE", help="Write to this new file; work-RUN.bundle by default."
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Write the work of a run as a Git bundle, if no branch has it.

    In a clone of the repository, `git fetch` takes the commit out of the file. It is
    as the agent left it: nobody has looked for secrets in it.
    """
    load_handler("cli.runs_handler", "bundle_run")(run, out, as_object=json)
