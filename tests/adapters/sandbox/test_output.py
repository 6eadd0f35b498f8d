"""What becomes of the bytes that commands print."""

from tests.adapters.sandbox.box import Box


def test_s57_colours_links_and_redraws_are_folded(box: Box) -> None:
    output = box.sh(
        r"printf '\033[1;31mred\033[0m \033]8;;http://x\033\\link\033]8;;\007\n';"
        r"for i in 1 2 3; do printf '\r%s0%%' $i; done; printf '\r\ndone\n'"
    )
    assert output.output == "red link\n30%\ndone\n"


def test_s57_a_progress_bar_in_colour_costs_one_line(box: Box) -> None:
    bar = (
        "import sys\nfor i in range(20001):"
        " sys.stdout.write(f'\\r\\x1b[2K\\x1b[32m{i // 200:3}%\\x1b[0m')"
    )
    output = box.sh(f'python3 -c "{bar}"; printf "\nall done\n"')
    assert (output.output, output.dropped_bytes) == ("100%\nall done\n", 0)


def test_s57_a_cut_is_never_inside_a_sequence(box: Box) -> None:
    line = "\\x1b[1;31mred\\x1b[0m"
    output = box.sh(f"python3 -c \"print('{line}\\n' * 20000)\"")
    kept = set(output.output.splitlines()) - {"red", ""}
    assert output.dropped_bytes == 80_001 - 10_000
    assert all(one.startswith("[... ") or one in "red" for one in kept)


def test_a_long_output_keeps_head_and_tail_and_a_file_with_all(box: Box) -> None:
    output = box.sh("seq 1 20000")
    lines = output.output.splitlines()
    assert (lines[0], lines[-1]) == ("1", "20000")
    assert len(output.output) < 10_100
    whole = box.runtime.download(output.full_output_path, 1 << 20)
    assert whole == b"".join(b"%d\n" % number for number in range(1, 20001))
    assert output.dropped_bytes == len(whole) - 10_000
    assert output.full_output_path.startswith("/workspace/logs/")


def test_a_short_output_leaves_no_file(box: Box) -> None:
    assert box.sh("echo short").full_output_path == ""


def test_a_flood_costs_neither_memory_nor_disk(fresh: Box) -> None:
    output = fresh.sh("yes 0123456789 | head -c 60000000")
    assert output.exit_code == 0
    assert output.dropped_bytes > 50_000_000
    size = fresh.sh(f"stat -c %s {output.full_output_path}").output
    assert int(size) == 32 << 20
    peak = fresh.sh("grep VmHWM /proc/1/status").output.split()[1]
    assert int(peak) < 60_000


def test_bytes_become_text_on_code_point_borders(box: Box) -> None:
    output = box.sh(r"printf '\303'; sleep 0.1; printf '\244 \377\n'")
    assert output.output == "ä \ufffd\n"


def test_cut_characters_stay_whole(box: Box) -> None:
    output = box.sh("python3 -c \"print('ä' * 40000)\"")
    assert "\ufffd" not in output.output
    assert output.dropped_bytes == 80001 - 2 * 9_999 - 1
