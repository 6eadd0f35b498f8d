"""The action server as one file."""

import ast
import sys
from importlib.resources import files
from io import BytesIO
from zipfile import ZipFile

import pytest

from patchwright.sandbox.bootstrap import (
    ACTION_SERVER_PACKAGE,
    INSIDE_PACKAGE,
    PROXY_PACKAGE,
    pack_action_server,
    pack_proxy,
)

OLDEST = (3, 8)
SOURCES = {
    f"{folder}.{source.name}": source.read_text()
    for folder in (ACTION_SERVER_PACKAGE, INSIDE_PACKAGE, PROXY_PACKAGE)
    for source in files(folder).iterdir()
    if source.name.endswith(".py")
}


def test_the_same_sources_give_the_same_bytes() -> None:
    first = pack_action_server()
    pack_action_server.cache_clear()
    assert pack_action_server() == first


def test_every_module_is_in_it() -> None:
    names = ZipFile(BytesIO(pack_action_server())).namelist()
    assert "__main__.py" in names
    assert "patchwright/sandbox/action_server/shell_sessions.py" in names
    assert "patchwright/core/errors.py" not in names


def test_the_proxy_has_nothing_but_itself() -> None:
    names = ZipFile(BytesIO(pack_proxy())).namelist()
    folder = PROXY_PACKAGE.replace(".", "/")
    modules = [name for name in names if not name.endswith("__init__.py")]
    assert f"{folder}/rules.py" in modules
    assert all(one == "__main__.py" or one.startswith(folder) for one in modules)


@pytest.mark.parametrize("name", SOURCES)
def test_what_runs_inside_is_written_for_old_pythons(name: str) -> None:
    ast.parse(SOURCES[name], feature_version=OLDEST)


@pytest.mark.parametrize("name", SOURCES)
def test_what_runs_inside_imports_the_standard_library_alone(name: str) -> None:
    for node in ast.walk(ast.parse(SOURCES[name])):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [str(node.module)]
        for module in modules:
            is_ours = module.startswith(
                (ACTION_SERVER_PACKAGE, INSIDE_PACKAGE, PROXY_PACKAGE)
            )
            assert is_ours or module.partition(".")[0] in sys.stdlib_module_names
