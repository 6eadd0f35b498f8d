"""The command `resolve` with its options, and what they ask for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from patchwright.workers.cli.commands import load_handler


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
    object, `streams` one for each event, and `quiet` no words on the way. `fail_on` is
    what the exit code is 1 for.
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
    streams: bool
    quiet: bool
    is_verbose: bool
    fail_on: FailOn

    @property
    def prints_json(self) -> bool:
        return self.as_object or self.streams

    @property
    def is_silent(self) -> bool:
        """Whether there are no words but the result."""
        return self.quiet or self.prints_json


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
        "of .patchwright.toml, or the tests of the change.",
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
EventStream = Annotated[
    bool,
    typer.Option(
        "--json-stream",
        help="Print each event as it comes, one JSON object a line, and the object of "
        "--json last.",
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


def resolve(
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
    json_stream: EventStream = False,
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
    2 for wrong usage or settings, 3 if a service, the model or the sandbox failed, and
    130 after Ctrl-C.
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
        streams=json_stream,
        quiet=quiet,
        is_verbose=verbose,
        fail_on=fail_on,
    )
    run = load_handler("cli.resolve_handler", "run_resolve")
    raise typer.Exit(run(options))
