"""The commands `resolve`, `prove`, `replay` and `runs`, with their options."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from patchwright.core.types.errors import SettingsError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.workers.cli.commands import AsJson, add_group, load_handler
from patchwright.workers.cli.resolve_command import (
    RESOLVE_EXAMPLES,
    SandboxKind,
    resolve,
)
from patchwright.workers.runs.selection import RunStage


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
    app.command("resolve", epilog=RESOLVE_EXAMPLES)(resolve)
    app.command("prove")(_prove)
    app.command("replay")(_replay)
    add_group(
        app,
        "runs",
        "Show and control the runs of the service and of this machine.",
        {
            "list": _runs_list,
            "show": _runs_show,
            "answer": _runs_answer,
            "approve": _runs_approve,
            "reject": _runs_reject,
            "confirm": _runs_confirm,
            "pause": _runs_pause,
            "resume": _runs_resume,
            "budget": _runs_budget,
            "stop": _runs_stop,
            "retry": _runs_retry,
            "export": _runs_export,
            "bundle": _runs_bundle,
        },
    )


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
    """Prove the change on a branch, by any author, without a model.

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


def _send(run: str, act: str, typed: str = "", *, json: bool) -> None:
    load_handler("cli.runs_handler", "send_command")(run, act, typed, as_object=json)


def _runs_answer(
    run: RunId,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The answer, as you would reply.")
    ],
    *,
    json: AsJson = False,
) -> None:
    """Answer the question of a run, or tell a run that works something."""
    _send(run, "message", text, json=json)


def _runs_approve(run: RunId, *, json: AsJson = False) -> None:
    """Approve the plan, or the action, that a run waits with."""
    _send(run, "approve", json=json)


def _runs_reject(
    run: RunId,
    reason: Annotated[
        str, typer.Argument(metavar="[REASON]", help="Why; it is kept in the log.")
    ] = "",
    *,
    json: AsJson = False,
) -> None:
    """Reject the plan, or the action, that a run waits with."""
    _send(run, "reject", reason, json=json)


def _runs_confirm(run: RunId, *, json: AsJson = False) -> None:
    """Confirm the risky action that a run waits with; the same as `approve`."""
    _send(run, "confirm", json=json)


def _runs_pause(run: RunId, *, json: AsJson = False) -> None:
    """Pause a run that works; it costs nothing until it is resumed."""
    _send(run, "pause", json=json)


def _runs_resume(run: RunId, *, json: AsJson = False) -> None:
    """Let a paused run continue."""
    _send(run, "resume", json=json)


def _runs_budget(
    run: RunId,
    amount: Annotated[
        str,
        typer.Argument(
            metavar="AMOUNT", help="US dollars: +2 adds $2, 5 makes it $5 in all."
        ),
    ],
    *,
    json: AsJson = False,
) -> None:
    """Raise the budget of a run that has started."""
    _send(run, "budget", amount, json=json)


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
