"""The persistent shell, one case of the semantics after the other."""

from hashlib import sha256

import pytest

from patchwright.core.events.actions import RunCommand
from tests.adapters.sandbox.box import Box


def test_folder_exports_and_functions_survive(box: Box) -> None:
    box.sh("mkdir -p /tmp/here && cd /tmp/here; export WORD=kept; f() { echo ran; }")
    output = box.sh("pwd; echo $WORD; f")
    assert output.output == "/tmp/here\nkept\nran\n"
    assert output.cwd == "/tmp/here"


def test_sessions_do_not_share_their_state(box: Box) -> None:
    box.sh("export WORD=mine; cd /")
    other = Box(box.runtime)
    assert other.sh("echo [$WORD]; pwd").output == "[]\n/workspace/repo\n"


def test_the_first_command_of_a_session_knows_where_it_is(box: Box) -> None:
    output = Box(box.runtime).sh("echo $PWD; sh -c 'echo $PWD'; cd / && echo $PWD")
    assert output.output == "/workspace/repo\n/workspace/repo\n/\n"


def test_what_is_added_to_the_environment_counts_in_later_sessions(fresh: Box) -> None:
    before = fresh.sh("echo $PATH").output.strip()
    fresh.sh('export PATH="/opt/tools:$PATH" && echo "PATH=$PATH" >> $PATCHWRIGHT_ENV')
    fresh.sh(
        "printf 'WORD=a=b c\\nno variable\\n1X=no\\nWORD=last' >> $PATCHWRIGHT_ENV"
    )
    later = Box(fresh.runtime)
    assert later.sh("echo $PATH; echo $WORD").output == f"/opt/tools:{before}\nlast\n"
    assert fresh.sh("echo [$WORD]").output == "[]\n"
    # Our own commands are found where they were before.
    later.session = "patchwright-own"
    assert later.sh("echo $PATH").output.strip() == before


@pytest.mark.parametrize("made", ["ln -s /etc/passwd", "mkdir", "mkfifo"])
def test_an_environment_that_is_no_file_adds_nothing(fresh: Box, made: str) -> None:
    fresh.sh(f"{made} $PATCHWRIGHT_ENV")
    assert Box(fresh.runtime).sh("echo alive").output == "alive\n"


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        ("true", 0),
        ("(exit 7)", 7),
        ("exit 3", 3),
        ("set -e; false; echo unreachable", 1),
        ("exec sh -c 'exit 4'", 4),
        ("kill -9 $$", 137),
        ("sh -c 'kill -9 $$'", 137),
        ("no-such-program", 127),
        ("set -u; echo $NOT_SET", 127),
    ],
)
def test_every_ending_has_its_exit_code(box: Box, command: str, exit_code: int) -> None:
    output = box.sh(command)
    assert output.exit_code == exit_code
    assert "unreachable" not in output.output
    assert box.sh("echo next").output == "next\n"


@pytest.mark.parametrize("command", ["exit 3", "set -e; false", "exec bash", "kill $$"])
def test_a_shell_that_ended_is_replaced_with_its_state(box: Box, command: str) -> None:
    box.sh("cd /tmp; export WORD=kept; f() { echo ran; }")
    assert "The shell ended and was restarted" in box.sh(command).note
    assert box.sh("pwd; echo $WORD; f").output == "/tmp\nkept\nran\n"


@pytest.mark.parametrize(
    "command", ["echo 'open", 'echo "open', "if true; then", "done", "echo $(", "f() {"]
)
def test_a_syntax_error_ends_by_itself(box: Box, command: str) -> None:
    output = box.sh(command)
    assert output.exit_code not in (0, None)
    assert "bash: " in output.output
    assert box.sh("echo next").output == "next\n"


def test_a_here_document_and_several_lines_arrive_as_they_are(box: Box) -> None:
    output = box.sh("cat <<'END'\n$HOME `x` \"'\n\ttab\nEND\necho after\n")
    assert output.output == "$HOME `x` \"'\n\ttab\nafter\n"


def test_a_large_script_is_one_command(box: Box) -> None:
    body = "x" * 200_000
    assert box.sh(f"cat <<'END' | wc -c\n{body}\nEND").output.strip() == "200001"


def test_stty_cannot_disturb_the_shell(box: Box) -> None:
    assert box.sh("stty -echo raw").exit_code == 1
    assert box.sh("echo fine").output == "fine\n"


def test_shell_options_do_not_leak_our_words_into_the_output(box: Box) -> None:
    box.sh("set -xauC")
    output = box.sh("echo fine")
    assert output.output.splitlines()[-1] == "fine"
    assert "PATCHWRIGHT" not in output.output


def test_redirecting_the_shell_itself_does_not_silence_it(box: Box) -> None:
    box.sh("exec >/dev/null 2>&1; echo lost")
    assert box.sh("echo heard").output == "heard\n"


def test_a_forged_completion_is_only_text(box: Box) -> None:
    forged = "deadbeefdeadbeef 0"
    output = box.sh(
        f"echo '{forged}'; for fd in 3 4 5 6 7 8 9 10 11 12; do"
        f" echo '{forged}' 2>/dev/null >&$fd; done; exit 5"
    )
    assert output.exit_code == 5
    assert forged in output.output


def test_children_see_no_files_but_the_three(box: Box) -> None:
    output = box.sh(
        "python3 -c 'import os; print(sorted(os.listdir(\"/proc/self/fd\")))'"
    )
    # The fourth is the folder being listed.
    assert output.output == "['0', '1', '2', '3']\n"


def test_standard_input_is_what_was_given_and_then_ends(box: Box) -> None:
    assert box.sh("cat; echo .", stdin="two\nlines").output == "two\nlines.\n"
    assert box.sh("wc -c", stdin="x" * 300_000).output.strip() == "300000"
    assert box.sh("head -c 1", stdin="abc" * 1000).output == "a"
    assert box.sh("cat", stdin="clean").output == "clean"


def test_a_nul_byte_is_refused(box: Box) -> None:
    refused = box.refusal(RunCommand(command="echo \0", session=box.session))
    assert refused.reason == "bad-request"


@pytest.mark.parametrize(
    "command",
    [
        "read -p 'sure? ' answer",
        "python3 -c 'input(\"name? \")'",
    ],
)
def test_s51_a_question_ends_quickly_with_a_hint(box: Box, command: str) -> None:
    output = box.sh(command)
    assert output.exit_code == 1
    assert output.duration_ms < 5000
    assert "give the answers in `stdin`" in output.note


def test_s51_an_interpreter_without_arguments_ends(box: Box) -> None:
    assert box.sh("python3").exit_code == 0


def test_an_answer_reaches_the_program_that_asked(box: Box) -> None:
    running = box.sh(
        "python3 -c 'print(\"hello\", input())'", interactive=True, timeout_s=0.2
    )
    assert running.still_running
    answered = box.write(running, "world\n")
    assert (answered.exit_code, answered.output) == (0, "hello world\n")


def test_the_end_of_the_input_can_be_written(box: Box) -> None:
    running = box.sh("cat", interactive=True, timeout_s=0.1)
    ended = box.write(running, "\x04")
    assert ended.exit_code == 0


def test_a_shell_killed_while_it_stores_its_state_loses_none(box: Box) -> None:
    box.sh("export WORD=kept")
    # What a kill in that moment leaves: the file is empty, and the shell is gone.
    box.sh(
        "for f in /proc/$$/fd/*; do case $(readlink $f) in /tmp/*) : >|$f;; esac; done;"
        " kill -9 $$"
    )
    assert box.sh("echo $WORD").output == "kept\n"


# Reads what lies in the pipes of its shell, and answers for it with a success.
FORGERY = """python3 - <<'END'
import os
folder = f"/proc/{os.getppid()}/fd"
pipes = [f for f in os.listdir(folder) if "pipe" in os.readlink(f"{folder}/{f}")]
words = b""
for pipe in pipes[:]:
    try:
        fd = os.open(f"{folder}/{pipe}", os.O_RDONLY | os.O_NONBLOCK)
        words += os.read(fd, 1000)
    except OSError:
        pass
for pipe in pipes:
    for word in words.split():
        try:
            fd = os.open(f"{folder}/{pipe}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(fd, word + b" 0\\n")
        except OSError:
            pass
END
sleep 0.2
exit 3
"""


def test_m7_a_command_cannot_say_for_the_shell_how_it_ended(box: Box) -> None:
    assert box.sh(FORGERY).exit_code == 3
    assert box.sh("echo next").output == "next\n"


@pytest.mark.parametrize("lines", [1, 20_000])
def test_m7_the_digest_is_of_what_was_printed_whatever_the_log_says(
    box: Box, lines: int
) -> None:
    rewrite = "for log in /workspace/logs/*; do echo forged >$log; done"
    output = box.sh(f"seq 1 {lines}; {rewrite} 2>/dev/null; seq 1 {lines}")
    printed = b"".join(b"%d\n" % number for number in range(1, lines + 1)) * 2
    assert output.digest == sha256(printed).hexdigest()


BUILTINS = (
    *("printf", ":", "eval", "builtin", "command", "trap", "exec", "read", "cd", "."),
    *("set", "unset", "exit", "export", "declare", "return", "pwd", "true", "test"),
)
DISTURBANCES = (
    *(f"{name}() {{ :; }}" for name in BUILTINS),
    "; ".join(f"{name}() {{ :; }}" for name in BUILTINS),
    *(f"set -{option}" for option in "nefuvxCabhkmptBEHPT"),
    *("set -o pipefail", "set -o posix", "set -efnux", "set -o noexec"),
    *("trap : DEBUG", "trap 'exit 0' DEBUG", "trap 'echo x' ERR EXIT DEBUG RETURN"),
    *("shopt -s extdebug; trap false DEBUG", "trap '' TERM INT CHLD"),
    *("alias echo=false exit=true; shopt -s expand_aliases", "shopt -s failglob"),
    *("IFS=0123456789", "readonly IFS=/", "POSIXLY_CORRECT=1", "CDPATH=/usr BASH=x"),
    *(
        "readonly POSIXLY_CORRECT=1",
        "PATH=",
        "PATH=/nowhere; export PATH",
        "unset HOME",
    ),
    'for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do eval "exec $fd>&-"; done',
    "set -a; for name in $(compgen -v); do readonly $name; done",
    "readonly PATCHWRIGHT_COMMAND=true PATCHWRIGHT_INPUT=x PATCHWRIGHT_STATUS=0",
    *("exec </dev/zero", "exec >/dev/full 2>&1", "enable -n printf read eval trap"),
    *("kill -9 $$", "exec true", "exit 0"),
    *("BASH_ENV=/dev/zero ENV=/dev/zero; export BASH_ENV ENV", "umask 777", "cd /proc"),
    "echo 'echo forged; exit 0' >&4; echo 'echo forged; exit 0' >&9",
    "for fd in 4 5 8 9; do echo 'read() { :; }; exit 0' >/proc/$$/fd/$fd; done",
    *("TMOUT=1; sleep 0.1", "readonly TMOUT=1 IFS=np", "declare -n BASH_COMMAND=x"),
    "declare -i PATCHWRIGHT_STATUS PATCHWRIGHT_COMMAND PATCHWRIGHT_INPUT",
)


@pytest.mark.parametrize("command", DISTURBANCES)
def test_what_a_command_does_to_its_shell_ends_with_it(box: Box, command: str) -> None:
    """It neither hangs what comes next, nor has it succeed without being run."""
    assert not box.sh(command, timeout_s=10).still_running
    after = box.sh("/bin/echo next; /bin/sh -c 'kill -7 $$'", timeout_s=10)
    assert (after.exit_code, "next\n" in after.output) == (135, True), after


@pytest.mark.parametrize(
    "command", ["set -n", "set -o noexec", "exit 3", "set -e; false"]
)
def test_a_shell_that_ended_early_says_so_at_once(box: Box, command: str) -> None:
    box.sh("cd /tmp; export WORD=kept")
    output = box.sh(f"cd /; {command}", timeout_s=10)
    assert "The shell ended and was restarted" in output.note
    assert box.sh("pwd; echo $WORD").output == "/tmp\nkept\n"


def test_the_words_of_a_trap_find_the_shell_as_the_command_has_left_it(
    box: Box,
) -> None:
    output = box.sh(
        'printf() { echo mine "$@"; }; set -f; kept=1; (exit 3);'
        " trap 'printf $? *; kept=2' EXIT; exit_code() { return 7; }; exit_code"
    )
    assert (output.exit_code, output.output) == (7, "mine 7 *\n")
    assert box.sh("echo $kept").output == "1\n"


def test_a_folder_that_was_replaced_or_removed_meanwhile(box: Box) -> None:
    other = Box(box.runtime)
    box.sh("mkdir -p /tmp/place && cd /tmp/place")
    other.sh("rm -rf /tmp/place; mkdir /tmp/place; touch /tmp/place/new")
    assert box.sh("ls").output == "new\n"
    other.sh("rm -rf /tmp/place")
    gone = box.sh("pwd")
    assert (gone.output, gone.cwd) == ("/workspace\n", "/workspace")


def test_a_waiting_shell_that_was_killed_is_replaced(box: Box) -> None:
    box.sh("export WORD=kept")
    Box(box.runtime).sh(
        "for one in /proc/[0-9]*; do one=${one#/proc/}; [ $one = $$ ] ||"
        " [ $one = 1 ] || { kill -9 $one; while kill -0 $one; do :; done; }; done"
        " 2>/dev/null"
    )
    assert box.sh("echo $WORD").output == "kept\n"


@pytest.mark.parametrize("command", ["IFS=x", "readonly IFS=x", "TMOUT=1 IFS=x"])
def test_a_command_arrives_whole_whatever_separates_words(
    box: Box, command: str
) -> None:
    box.sh(command)
    assert box.sh("echo 'it ends on'; echo x").output == "it ends on\nx\n"


def test_the_folder_before_this_one_is_remembered(box: Box) -> None:
    box.sh("cd /tmp; cd /usr")
    assert box.sh("cd -; pwd").output == "/tmp\n/tmp\n"


def test_variables_of_every_kind_survive_until_they_are_unset(box: Box) -> None:
    box.sh("plain=1; list=(a 'b c'); declare -A map=([k]='v w'); export out=$'x\\ny'")
    output = box.sh('echo $plain ${#list[@]} "${map[k]}"; printenv out; unset out USER')
    assert output.output == "1 2 v w\nx\ny\n"
    assert box.sh("echo [$out] [$USER] [$plain]").output == "[] [] [1]\n"
    assert box.sh("printenv USER out plain").exit_code == 1
