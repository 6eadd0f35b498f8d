"""What is said about each member of an enumeration is said about all of them."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tests.architecture.tree import Module, modules

ENUMERATIONS = {"Enum", "IntEnum", "StrEnum"}

# Tables and functions that leave members out on purpose.
PARTIAL = {
    "patchwright/core/events/state.py:_as_waiting": "it tells three states from others",
    "patchwright/core/text/hidden.py:_cut_piece": "other pieces hide nothing",
    "patchwright/integrations/github/reviews.py:_LABELS": "nobody else sees a review "
    "that is not submitted",
    "patchwright/integrations/jira/text/wiki_writer.py:_SIGNS": "what is small is a "
    "macro, not a sign",
    "patchwright/resolver/proof/repository_scripts.py:_CALLS": "Python runners are "
    "known by their modules, and a script calls a runner",
    "patchwright/resolver/proof/printed_reports.py:_SUMMARIES": "others list each test",
    "patchwright/resolver/proof/report_options.py:_arguments": "others take variables, "
    "or print it",
    "patchwright/resolver/proof/runner_reports.py:_junit_name": "the rest is pytest",
    "patchwright/resolver/proof/test_selection.py:whole_suite": "others need no "
    "further word",
    "patchwright/resolver/proof/runner_options.py:_NAMING_REPORTER": "others have the "
    "same name for it",
    "patchwright/resolver/proof/runner_options.py:_REFUSED_BY_RUNNER": "others have "
    "only what is refused of all",
    "patchwright/resolver/proof/test_selection.py:_RULES": "others have modules of "
    "their own, or no options",
    "patchwright/resolver/proof/test_selection.py:_SELECTIONS": "others cannot be told "
    "which tests to run",
    "patchwright/workers/web/site/runs_page.py:STAGES": "no run of the service is "
    "unfinished",
    "patchwright/resolver/set_up/inference.py:_ONE_WAY": "the others have several lock "
    "files each",
}


def test_each_table_has_all_members() -> None:
    lacking = {
        place: missing
        for module in modules("patchwright/")
        for place, missing in _gaps(module, enumerations())
        if place not in PARTIAL
    }
    assert lacking == {}


def test_each_exception_is_still_one() -> None:
    found = {
        place
        for module in modules("patchwright/")
        for place, _ in _gaps(module, enumerations())
    }
    assert PARTIAL.keys() - found == set()


def test_a_table_with_a_gap_is_found() -> None:
    text = """
from a import Colour

HUES = {Colour.RED: 1}
TONES = {a.Colour.RED: 1}

def hue(colour):
    match colour:
        case Colour.RED:
            return 1
        case _:
            return 0

def sure(colour):
    match colour:
        case Colour.RED:
            return 1
        case _:
            assert_never(colour)
"""
    gaps = dict(_gaps(Module("a.py", text), {"Colour": {"RED", "BLUE"}}))
    assert gaps.keys() == {"a.py:HUES", "a.py:TONES", "a.py:hue"}
    assert all(missing == {"BLUE"} for missing in gaps.values())


@cache
def enumerations() -> Mapping[str, set[str]]:
    """Return the members of each enumeration by its name."""
    return {
        node.name: _members(node)
        for module in modules("patchwright/")
        for node in module.nodes
        if isinstance(node, ast.ClassDef) and _is_enumeration(node)
    }


def _is_enumeration(node: ast.ClassDef) -> bool:
    return any(isinstance(b, ast.Name) and b.id in ENUMERATIONS for b in node.bases)


def _members(node: ast.ClassDef) -> set[str]:
    return {
        target.id
        for line in node.body
        if isinstance(line, ast.Assign)
        for target in line.targets
        if isinstance(target, ast.Name)
    }


def _gaps(
    module: Module, known: Mapping[str, set[str]]
) -> Iterator[tuple[str, set[str]]]:
    """Yield each table, and each match with a default, that lacks members."""
    tree = module.tree
    short = _short_names(tree)
    for place, used in (*_tables(tree), *_matches(tree)):
        members = {(short.get(name, name), member) for name, member in used}
        for name in {name for name, _ in members} & known.keys():
            missing = known[name] - {member for one, member in members if one == name}
            if missing:
                yield f"{module.name}:{place}", missing


def _short_names(tree: ast.Module) -> dict[str, str]:
    return {
        line.targets[0].id: name
        for line in tree.body
        if isinstance(line, ast.Assign)
        and isinstance(line.targets[0], ast.Name)
        and (name := _last_name(line.value))
    }


def _last_name(node: ast.expr) -> str:
    """Return the name of a class, also where its module is written before it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


Used = list[tuple[str, str]]


def _tables(tree: ast.Module) -> Iterator[tuple[str, Used]]:
    names = dict(_named_tables(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            place = names.get(node, f"line {node.lineno}")
            yield place, _members_of(key for key in node.keys if key is not None)


def _named_tables(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as table):
                yield table, name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict() as table):
                yield table, name
            case _:
                pass


def _matches(tree: ast.Module) -> Iterator[tuple[str, Used]]:
    """Yield those that have a default: without one mypy looks for all members."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Match) and _has_default(node):
                yield function.name, _members_of(_values(node))


def _values(node: ast.Match) -> Iterator[ast.expr]:
    for case in node.cases:
        pattern = case.pattern
        for one in pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]:
            if isinstance(one, ast.MatchValue):
                yield one.value


def _has_default(node: ast.Match) -> bool:
    last = node.cases[-1]
    is_default = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    return is_default and "assert_never" not in ast.unparse(last)


def _members_of(nodes: Iterable[ast.expr]) -> Used:
    return [
        (_last_name(node.value), node.attr)
        for node in nodes
        if isinstance(node, ast.Attribute)
    ]
