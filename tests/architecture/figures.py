"""Measure how the product's files are cut: how large, how connected, how named."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import median, quantiles

from tests.architecture.tree import Module, modules

PACKAGE = "patchwright"
SHORT, SMALL = 40, 60
# Its `replace` takes fields of the right type only; `model_copy` takes anything.
BASE_OF_VALUES = "patchwright/core/types/base.py"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

# They are made from the API's own classes, and mean the same.
_CLIENT_MODELS = "patchwright/client/models.py"


@dataclass(frozen=True)
class Product:
    """The product's modules; packages without a line of text count as none."""

    modules: tuple[Module, ...]

    @cached_property
    def sizes(self) -> list[int]:
        return sorted(module.lines for module in self.modules)

    @property
    def files(self) -> int:
        return len(self.modules)

    @property
    def lines(self) -> int:
        return sum(self.sizes)

    @property
    def median(self) -> int:
        return round(median(self.sizes))

    @property
    def ninth_decile(self) -> int:
        return round(quantiles(self.sizes, n=10)[-1])

    @property
    def largest(self) -> int:
        return self.sizes[-1]

    @cached_property
    def import_share(self) -> float:
        """Return how many lines of imports there are to a hundred other lines."""
        written = sum(
            bool(line.strip()) for one in self.modules for line in one.text.splitlines()
        )
        imports = sum(
            _height(node)
            for one in self.modules
            for node in one.nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
        )
        return round(100 * imports / (written - imports), 1)

    @cached_property
    def pass_throughs(self) -> list[str]:
        """List functions that only hand their parameters to another one."""
        return [
            f"{module.name}:{function.name}"
            for module in self.modules
            for function in _functions(module)
            if _passes_on(function)
        ]

    @cached_property
    def one_line_helpers(self) -> list[str]:
        """List private functions of one statement that their module names once."""
        return [
            f"{module.name}:{function.name}"
            for module in self.modules
            for function in _functions(module)
            if _is_private(function.name) and len(_body(function)) == 1
            if _mentions(module)[function.name] == 1
        ]

    @cached_property
    def importers(self) -> Mapping[str, set[str]]:
        """Return who imports each module, by file name."""
        known = {dotted(module.name): module.name for module in self.modules}
        found = defaultdict(set)
        for module in self.modules:
            for name in imported_names(module.tree):
                target = known.get(name) or known.get(name.rpartition(".")[0])
                if target and target != module.name:
                    found[target].add(module.name)
        return found

    @cached_property
    def single_importer(self) -> list[str]:
        return sorted(name for name, by in self.importers.items() if len(by) == 1)

    @cached_property
    def small_with_single_importer(self) -> list[str]:
        sizes = {module.name: module.lines for module in self.modules}
        return [name for name in self.single_importer if sizes[name] < SMALL]

    @cached_property
    def short_modules(self) -> list[str]:
        return [
            module.name
            for module in self.modules
            if module.lines < SHORT and not module.is_package_mark
        ]

    @cached_property
    def repeated_classes(self) -> dict[str, list[str]]:
        """Return the names of classes that several modules define."""
        places = defaultdict(list)
        for module in self.modules:
            if module.name == _CLIENT_MODELS:
                continue
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(module.name)
        return {name: found for name, found in places.items() if len(found) > 1}

    @cached_property
    def gerunds(self) -> list[str]:
        """List modules and packages that are named by what somebody does."""
        return sorted(
            {
                part
                for module in self.modules
                for part in module.name.removesuffix(".py").split("/")
                if part.endswith("ing")
            }
        )

    @cached_property
    def circles(self) -> list[list[str]]:
        """Group the folders that import each other, directly or by way of others."""
        graph: dict[str, set[str]] = defaultdict(set)
        for target, by in self.importers.items():
            for name in by:
                graph[_folder(name)].add(_folder(target))
        return [sorted(group) for group in _groups(graph) if len(group) > 1]

    @cached_property
    def unchecked_copies(self) -> list[str]:
        return [
            f"{module.name}:{node.lineno}"
            for module in self.modules
            if module.name != BASE_OF_VALUES
            for node in module.nodes
            if isinstance(node, ast.Attribute) and node.attr == "model_copy"
        ]


@cache
def product() -> Product:
    """Return the modules of the package, tests not among them."""
    return Product(tuple(one for one in modules(f"{PACKAGE}/") if one.text))


def dotted(name: str) -> str:
    """Return the module of a file: `a/b.py` is `a.b`."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield what is imported, as `module` or `module.name`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(str(module), names):
                yield from (f"{module}.{name.name}" for name in names)
            case ast.Import(names):
                yield from (name.name for name in names)
            case _:
                pass


def _functions(module: Module) -> Iterator[FunctionNode]:
    for node in module.nodes:
        if isinstance(node, FunctionNode):
            yield node


def _height(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _body(function: FunctionNode) -> list[ast.stmt]:
    body = function.body
    return body[1:] if ast.get_docstring(function) is not None else body


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def _mentions(module: Module) -> Counter[str]:
    return Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in module.nodes
        if isinstance(node, ast.Name | ast.Attribute)
    )


def _passes_on(function: FunctionNode) -> bool:
    """Tell a function that only calls another one with the parameters it got.

    One that makes an object of a class, that first calls or looks up what it calls,
    or that adds a value of its own, does more.
    """
    match _body(function):
        case [ast.Return(ast.Call() as call)] | [ast.Expr(ast.Call() as call)]:
            pass
        case [ast.Return(ast.Await(ast.Call() as call))]:
            pass
        case _:
            return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    given = {one.arg for one in _parameters(function.args)}
    passed = [one.id for one in map(_unstarred, values) if isinstance(one, ast.Name)]
    makes = ast.unparse(call.func).rpartition(".")[2].lstrip("_")[:1].isupper()
    is_named = not makes and _is_dotted_name(call.func)
    return is_named and len(passed) == len(values) and set(passed) <= given


def _is_dotted_name(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _unstarred(value: ast.expr) -> ast.expr:
    return value.value if isinstance(value, ast.Starred) else value


def _parameters(arguments: ast.arguments) -> Iterable[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _groups(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the sets of nodes that reach each other."""
    reached = {node: _reachable(graph, node) for node in graph}
    groups: list[set[str]] = []
    for node, after in reached.items():
        if not any(node in group for group in groups):
            groups.append(
                {node, *(other for other in after if node in reached.get(other, ()))}
            )
    return groups


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for node in graph.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found
