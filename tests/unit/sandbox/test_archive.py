"""The action server as one file."""

import ast
import subprocess
import sys
from importlib.resources import files
from importlib.util import MAGIC_NUMBER
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from patchwright.sandbox.host.bootstrap import (
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


def test_a_python_of_our_version_need_not_compile_it() -> None:
    archive = ZipFile(BytesIO(pack_action_server()))
    name = "patchwright/sandbox/action_server/server.pyc"
    assert archive.read(name).startswith(MAGIC_NUMBER)


def test_a_python_of_another_version_takes_the_sources(tmp_path: Path) -> None:
    """Its bytecode begins with another number, as that of this archive does."""
    archive = pack_action_server().replace(MAGIC_NUMBER, b"\0\0\r\n")
    (tmp_path / "server.pyz").write_bytes(archive)
    check = (
        "import sys; sys.path.insert(0, 'server.pyz')\n"
        f"from {ACTION_SERVER_PACKAGE} import server\n"
        "print(server.__file__)"
    )
    argv = [sys.executable, "-I", "-S", "-c", check]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True)
    assert ended.stdout.endswith(b"/action_server/server.py\n")


def test_every_module_is_in_it() -> None:
    names = ZipFile(BytesIO(pack_action_server())).namelist()
    assert "__main__.py" in names
    assert "patchwright/sandbox/action_server/shell_sessions.py" in names
    assert "patchwright/core/types/errors.py" not in names


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
