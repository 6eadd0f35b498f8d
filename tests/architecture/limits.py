"""How large and how connected the product's files may be, and what is exempt, and why.

A limit is the goal where the goal is reached. Elsewhere it is what was reached so far,
with the reason; whoever gets further lowers it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.architecture.figures import SHORT, SMALL, Product

MAX_FUNCTION_LINES = 40
# A module is 120 to 400 lines long; one of more than this needs a reason.
MAX_MODULE_LINES = 500


# What may be longer than the limits, and why.
LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS = {
    "tests/unit/agent/scene.py:playing": "each part of the scene is a parameter",
    "patchwright/workers/cli/resolve_command.py:resolve": "each option is a parameter",
    "tests/adapters/web/admin_scene.py:_make_app": "composes all pages of admins",
    "tests/adapters/web/test_run_page.py:test_the_page_of_a_run_that_ended": "all of "
    "one page",
}
# What may be shorter than `SHORT` lines, and why; folders end in a slash.
SHORT_MODULES = {
    "patchwright/core/settings/environment.py": "the only reader of os.environ",
    "patchwright/core/types/outcome_kind.py": "light: the command line lists its words",
    "patchwright/core/types/purpose.py": "light: the command line lists its words",
    "patchwright/integrations/jira/plugin.py": "light: without the vendor's client",
    "patchwright/integrations/mcp/launcher.py": "starts a tool server in its sandbox",
    "patchwright/integrations/http/signatures.py": "for services that know no other",
    "patchwright/integrations/slack/plugin.py": "light: without the vendor's client",
    "patchwright/workers/action/__main__.py": "what `python -m` runs",
    "patchwright/workers/cli/maintenance_handler.py": "loaded by its command alone",
    "patchwright/workers/cli/serve_handler.py": "loaded by its command alone",
    "patchwright/workers/cli/terminal.py": "what each command needs, without Rich",
    "patchwright/workers/db/migrations/": "a migration is one change of the tables",
}
# Names in -ing that are nouns of the field.
GERUNDS = {
    "listing": "the list of runs, and what makes it",
    "polling": "to ask a service again and again is called polling",
    "routing": "which model answers is called model routing",
    "steering": "what people tell a run that works",
    "tampering": "what the guard looks for",
    "0004_linking": "the name is stored in databases",
}


def may_be_short(name: str) -> bool:
    return any(
        name == known or (known.endswith("/") and name.startswith(known))
        for known in SHORT_MODULES
    )


@dataclass(frozen=True)
class Limit:
    """A figure may lie between `least` and `most`; `goal` is where it should be.

    `reason` says why the limit is not the goal yet.
    """

    title: str
    measure: Callable[[Product], float]
    goal: str
    most: float
    least: float = 0
    reason: str = ""


LIMITS = (
    Limit(
        "files",
        lambda product: product.files,
        "<= 450",
        655,
        reason="test runners, the proof, `prove` and the set-up came on top, then what "
        "people type, check and see first, two services of some 25 files each, and the "
        "pages, the API and the accounts of people",
    ),
    Limit(
        "lines",
        lambda product: product.lines,
        "<= 62,000",
        134_000,
        reason="merging files removes imports, and no code; what is left is features, "
        "and the newest are test runners, the proof, `prove`, the set-up, the command "
        "line and the first minutes as people expect them, two services, the pages, "
        "the API and the accounts of people",
    ),
    Limit(
        "lines of a file, median",
        lambda product: product.median,
        "120 to 180",
        200,
        least=120,
        reason="set when small modules were merged; rules and texts come in bulk",
    ),
    Limit("lines of a file, p90", lambda product: product.ninth_decile, "<= 350", 350),
    Limit("lines of a file, largest", lambda product: product.largest, "<= 500", 500),
    Limit(
        f"files under {SHORT} lines without a reason",
        lambda product: len([n for n in product.short_modules if not may_be_short(n)]),
        "0",
        0,
    ),
    Limit(
        "import lines per 100 of code",
        lambda product: product.import_share,
        "<= 11",
        12.4,
        reason="a step of a run imports its values one by one, and so do the parts of "
        "a service",
    ),
    Limit(
        "pure pass-through functions",
        lambda product: len(product.pass_throughs),
        "<= 80",
        80,
    ),
    Limit(
        "private one-statement functions with one caller",
        lambda product: len(product.one_line_helpers),
        "where the name says more than the line",
        490,
        reason="whether a name says more is for a reviewer to judge; files of test "
        "runners and of packages are read by many small ones, and pages made of them",
    ),
    Limit(
        "modules with exactly one importer",
        lambda product: len(product.single_importer),
        "<= 60",
        140,
        reason="a service's parts, each a whole idea, have its composition as importer"
        ", the parts of the proof the stage that needs them, and a page its own",
    ),
    Limit(
        f"those of them under {SMALL} lines",
        lambda product: len(product.small_with_single_importer),
        "0",
        1,
        reason="a plug-in is light, and only the registry imports it",
    ),
    Limit(
        "class names with two meanings",
        lambda product: len(product.repeated_classes),
        "0",
        0,
    ),
    Limit(
        "modules named by a gerund",
        lambda product: len([one for one in product.gerunds if one not in GERUNDS]),
        "0",
        0,
    ),
    Limit(
        "circles of folders that import each other",
        lambda product: len(product.circles),
        "0",
        0,
    ),
    Limit(
        "copies made by model_copy",
        lambda product: len(product.unchecked_copies),
        "0",
        0,
    ),
)
# Before the model is asked, a run reads how the repository is set up and tested, uses
# what an earlier set-up has made, and finds out what the sandbox has. At its end it
# proves the change test by test, also without parts of it. What it spends is compared
# with the limits of the day, which warn before they refuse.
MENTION_LIMITS = {
    "files executed by one mention until the first model call": ("<= 110", 171),
    "files executed by one mention in all": ("<= 180", 250),
}
