"""The shell of an image without bash."""

from collections.abc import Iterator

import pytest

from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from tests.adapters.sandbox.box import Box


@pytest.fixture
def plain(factory: RuntimeFactory, spec: SandboxSpec) -> Iterator[Box]:
    """Start a sandbox in which no bash is found."""
    without_bash = spec.replace(environment={"PATH": "/nowhere"})
    runtime = factory.start(without_bash)
    yield Box(runtime)
    runtime.close()


def test_folder_and_exports_survive(plain: Box) -> None:
    plain.sh("PATH=/usr/bin:/bin; cd /tmp; export WORD=kept")
    assert (
        plain.sh("pwd; echo $WORD; echo [$BASH_VERSION]").output == "/tmp\nkept\n[]\n"
    )


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [("exit 3", 3), ("set -e; false; true", 1), ("kill -9 $$", 137), ("(exit 4)", 4)],
)
def test_every_ending_has_its_exit_code(
    plain: Box, command: str, exit_code: int
) -> None:
    plain.sh("PATH=/usr/bin:/bin; cd /tmp; export WORD=kept")
    assert plain.sh(command).exit_code == exit_code
    assert plain.sh("pwd; echo $WORD").output == "/tmp\nkept\n"


def test_a_syntax_error_is_reported(plain: Box) -> None:
    plain.sh("PATH=/usr/bin:/bin")
    output = plain.sh("echo 'open")
    assert output.exit_code == 2
    assert "Unterminated quoted string" in output.output
    assert plain.sh("echo next").output == "next\n"


def test_a_here_document_and_standard_input_arrive(plain: Box) -> None:
    plain.sh("PATH=/usr/bin:/bin")
    assert plain.sh("cat - <<END\nfirst\nEND\ncat", stdin="second").output == (
        "first\nsecond"
    )


@pytest.mark.parametrize(
    "command",
    [
        *(f"{name}() {{ :; }}" for name in ("printf", "read", "cd", "pwd", "test")),
        *("set -n", "set -efux", "set -a", "alias echo=false", "IFS=0123456789"),
        *("trap 'echo x' EXIT", "readonly PATCHWRIGHT_COMMAND=true IFS", "PATH="),
        "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- 1>&- 2>&-",
    ],
)
def test_what_a_command_does_to_its_shell_ends_with_it(
    plain: Box, command: str
) -> None:
    assert not plain.sh(command, timeout_s=10).still_running
    after = plain.sh("/bin/echo next; /bin/sh -c 'kill -7 $$'", timeout_s=10)
    assert (after.exit_code, "next\n" in after.output) == (135, True), after
