"""What a sandbox can see and do: little."""

import pytest

from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from tests.adapters.sandbox.box import Box

EXPECTED = {
    "CI",
    "DEBIAN_FRONTEND",
    "GIT_EDITOR",
    "GIT_PAGER",
    "GIT_TERMINAL_PROMPT",
    "HOME",
    "HOSTNAME",
    "LANG",
    "LC_CTYPE",
    "LOGNAME",
    "NO_COLOR",
    "OLDPWD",
    "PAGER",
    "PATCHWRIGHT_ENV",
    "PATH",
    "PWD",
    "SHLVL",
    "TERM",
    "USER",
    "WORKSPACE",
    "_",
}


def test_the_environment_holds_only_what_we_know(box: Box) -> None:
    names = {line.partition("=")[0] for line in box.sh("env").output.splitlines()}
    assert names - EXPECTED == set()
    assert box.sh("echo $HOME $PAGER $TERM $CI").output == (
        "/workspace/home cat dumb 1\n"
    )


def test_variables_of_the_spec_are_set(
    factory: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = factory.start(spec.replace(environment={"X_Y": "a b"}))
    try:
        assert Box(runtime).sh("echo $X_Y").output == "a b\n"
    finally:
        runtime.close()


def test_the_user_is_not_root_and_has_no_capability(box: Box) -> None:
    assert box.sh("id -u; id -g").output == "1000\n1000\n"
    status = box.sh("grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs)' /proc/self/status").output
    assert "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/opt", "/usr/local/bin"])
def test_the_system_is_read_only(box: Box, folder: str) -> None:
    assert box.sh(f"touch {folder}/planted").exit_code == 1


@pytest.mark.parametrize("folder", ["/workspace", "/workspace/repo", "$HOME", "/tmp"])
def test_the_workspace_and_tmp_are_writable(box: Box, folder: str) -> None:
    script = f"printf '#!/bin/sh\\necho ran\\n' >{folder}/t; chmod +x {folder}/t"
    assert box.sh(f"{script}; {folder}/t; rm {folder}/t").output == "ran\n"


# The home of root is among them, as a pattern: no such path may stand in the project.
@pytest.mark.parametrize(
    "path",
    ["/var/run/docker.sock", "/run/docker.sock", "/ro??/*", "/home/*", "/etc/shadow"],
)
def test_nothing_of_the_host_is_readable(box: Box, path: str) -> None:
    assert box.sh(f"cat {path}").exit_code == 1


def test_there_is_no_network(box: Box) -> None:
    program = "import socket; socket.create_connection(('1.1.1.1', 53), 2)"
    output = box.sh(f'python3 -c "{program}"')
    assert "Network is unreachable" in output.output
    devices = box.sh("cut -d: -s -f1 /proc/net/dev").output.split()
    assert [
        name for name in devices if not name.startswith(("lo", "sit", "tunl"))
    ] == []


def test_s56_the_server_cannot_be_killed_or_read_from_inside(box: Box) -> None:
    box.sh("for s in INT TERM HUP KILL STOP SEGV; do kill -$s 1; done")
    assert box.sh("ls /proc/1/fd").exit_code == 2
    assert box.sh("cat /proc/1/environ").exit_code == 1
    box.sh("kill -9 -1")
    assert box.sh("echo alive").output == "alive\n"


def test_s47_s56_no_port_is_taken_inside_or_outside(box: Box) -> None:
    # All addresses in use would stand below the heading.
    assert box.sh("cat /proc/net/tcp /proc/net/tcp6 | grep -vc local").output == "0\n"
    served = box.sh(
        "python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 & echo $!"
    )
    box.sh(f"kill {served.output.strip()}")
    assert box.sh("echo alive").output == "alive\n"


# Finds a listener as `fuser` would, which images need not have.
KILL_PORT = """
import glob, os, signal, sys
for line in open("/proc/net/tcp").readlines()[1:]:
    words = line.split()
    if words[3] == "0A" and int(words[1].split(":")[1], 16) == int(sys.argv[1]):
        for fd in glob.glob("/proc/[0-9]*/fd/*"):
            try:
                found = os.readlink(fd) == f"socket:[{words[9]}]"
            except OSError:
                continue
            if found:
                os.kill(int(fd.split("/")[2]), signal.SIGKILL)
                print("killed")
"""


def test_s56_whatever_holds_port_8000_can_be_killed_and_control_survives(
    box: Box,
) -> None:
    box.runtime.upload("/workspace/kill_port.py", KILL_PORT.encode())
    serve = "python3 -u -m http.server 8000 --bind 127.0.0.1"
    first = box.sh(f"{serve} >/tmp/8000 2>&1 & echo $!").output.strip()
    box.sh("until grep -q Serving /tmp/8000; do sleep 0.02; done")
    killed = box.sh("python3 $WORKSPACE/kill_port.py 8000")
    assert killed.output.startswith("killed\n")
    box.sh(f"until [ ! -e /proc/{first} ]; do sleep 0.02; done")
    second = box.sh(serve, timeout_s=0.5)
    assert second.output.startswith("Serving HTTP")
    assert box.kill(second).exit_code is None
    assert box.sh("echo alive").output == "alive\n"


def test_the_servers_file_cannot_be_changed(box: Box) -> None:
    found = box.sh("tr '\\0' '\\n' </proc/1/cmdline | grep pyz").output.strip()
    assert found.endswith("server.pyz")
    box.sh(f"rm -f {found}; echo >{found}; mv $(dirname {found}) /tmp/x")
    assert box.sh(f"test -s {found}").exit_code == 0


def test_a_fork_bomb_meets_the_limit_and_the_sandbox_lives(
    factory: RuntimeFactory, spec: SandboxSpec
) -> None:
    runtime = factory.start(spec.replace(max_processes=40))
    try:
        box = Box(runtime)
        output = box.sh("for i in $(seq 80); do sleep 5 & done; true", timeout_s=3)
        assert "fork" in output.output
        if output.still_running:
            box.kill(output)
        assert box.sh("echo alive").output == "alive\n"
    finally:
        runtime.close()


def test_s55_a_tool_that_eats_the_memory_dies_and_is_named(box: Box) -> None:
    output = box.sh("python3 -c \"x = ' ' * 10**10\"")
    assert output.exit_code != 0
    assert "memory limit of 512 MiB" in output.note
    assert box.sh("echo alive").output == "alive\n"


def test_tools_are_the_first_to_go_when_memory_runs_out(box: Box) -> None:
    assert box.sh("cat /proc/self/oom_score_adj").output == "1000\n"
