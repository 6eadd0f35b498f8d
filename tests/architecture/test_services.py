"""A service is a plug-in: nothing outside its folder names it."""

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator

from patchwright.integrations.registry import PLUGINS
from tests.architecture.tree import ROOT, Module, modules

SERVICES = tuple(plugin.name for plugin in PLUGINS)
NAMES = re.compile("|".join(SERVICES), re.IGNORECASE)
# What a service's own code is.
OWN = tuple(f"patchwright/integrations/{name}/" for name in SERVICES)
INDEPENDENT = "Services do not know each other"
# Where a name is still written outside a comment or a docstring, how often at most, and
# why. The list may only get shorter, and the numbers smaller.
EXCEPTIONS: dict[str, tuple[int, str]] = {
    "patchwright/core/security/paths.py": (2, "a folder of repositories"),
    "patchwright/core/security/shell/network.py": (3, "short addresses of packages"),
    "patchwright/core/settings/names.py": (14, "names of settings, and former ones"),
    "patchwright/core/settings/repository.py": (2, "files of repositories"),
    "patchwright/core/settings/service.py": (3, "help on settings"),
    "patchwright/core/text/escape.py": (2, "bots and services that read texts"),
    "patchwright/core/text/token_formats.py": (2, "forms of tokens"),
    "patchwright/core/types/triggers.py": (1, "a default in what is stored"),
    "patchwright/integrations/git/trees.py": (1, "the pointer of a large file"),
    "patchwright/integrations/registry.py": (15, "the registry"),
    "patchwright/resolver/context/repository_files.py": (2, "files of repositories"),
    "patchwright/resolver/context/test_starts.py": (2, "files of repositories"),
    "patchwright/resolver/guards/runner_configuration.py": (4, "files of repositories"),
    "patchwright/resolver/messages/advice.py": (
        6,
        "what a forge refuses, in its words",
    ),
    "patchwright/resolver/messages/pull_request.py": (1, "a note on workflows"),
    "patchwright/resolver/set_up/inference.py": (2, "hosts of packages"),
    "patchwright/workers/cli/commands.py": (1, "help on the CIs"),
    "patchwright/workers/cli/reference.py": (1, "a line of the manual"),
}


def test_no_service_is_named_outside_its_folder() -> None:
    found = {m.name: n for m in _others() if (n := len(list(_named_in(m))))}
    beyond = {
        name: count
        for name, count in found.items()
        if count > EXCEPTIONS.get(name, (0, ""))[0]
    }
    assert beyond == {}
    assert set(EXCEPTIONS) - set(found) == set(), "these need no exception any more"


def test_the_registry_is_one_line_for_each_service() -> None:
    [registry] = modules("patchwright/integrations/registry.py")
    for service in SERVICES:
        named = [line for line in registry.text.splitlines() if service in line]
        assert len(named) <= 2, named


def test_each_plug_in_is_in_the_registry() -> None:
    files = (one.name for one in modules("patchwright/integrations/"))
    found = {name.split("/")[-2] for name in files if name.endswith("/plugin.py")}
    assert found == set(SERVICES)


def test_no_service_imports_another() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    [independent] = [one for one in contracts if one["name"] == INDEPENDENT]
    expected = {f"patchwright.integrations.{name}" for name in SERVICES}
    assert expected - set(independent["modules"]) == set()


def _others() -> Iterator[Module]:
    return (one for one in modules("patchwright/") if not one.name.startswith(OWN))


def _named_in(module: Module) -> Iterator[str]:
    """Yield words and texts that name a service, but for comments and docstrings."""
    read = io.StringIO(module.text).readline
    at_start = True
    for token in tokenize.generate_tokens(read):
        is_docstring = at_start and token.type == tokenize.STRING
        is_code = token.type in {tokenize.NAME, tokenize.STRING} or _is_middle(token)
        if is_code and not is_docstring and NAMES.search(token.string):
            yield token.string
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            at_start = token.type in {
                tokenize.NEWLINE,
                tokenize.INDENT,
                tokenize.DEDENT,
                tokenize.ENCODING,
            }


def _is_middle(token: tokenize.TokenInfo) -> bool:
    """Tell whether it is text within a formatted string, as of Python 3.12."""
    return sys.version_info >= (3, 12) and tokenize.tok_name[token.type] == (
        "FSTRING_MIDDLE"
    )
