"""What the agent made arrives, whatever it did to its files, its git and its words."""

from pathlib import Path

import pytest

from patchwright.core.events.observations import ErrorObservation
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import LeftOut, LeftOutReason, Limits, Outcome
from tests.adapters.resolve.workbench import FIX, Run, finish, run
from tests.fakes.scripted_model import Step, reply


def shell(command: str) -> Step:
    return reply(calls=[("shell", {"command": command})])


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Count\0 every piece", "Count every piece"),
        ("\x1b[31mCount\x07\x85", "[31mCount"),
        ("Count\u2028every\rpiece", "Count every piece"),
        ("\0\x01\n", "Proposed change"),
        ("x" * 100_000, "x" * 71 + "…"),
    ],
)
def test_l3_no_character_of_a_title_or_summary_loses_the_work(
    tmp_path: Path, title: str, subject: str
) -> None:
    summary = "All\0 of\x1b it\x00.\r\nDone."
    done = run(tmp_path, [FIX, finish(title=title, summary=summary)], proves=False)
    outcome = done.outcome
    assert (outcome.kind, outcome.title) == (OutcomeKind.RESOLVED, subject)
    assert outcome.summary == "All of it.\nDone."
    said = done.repository.git("show", "-s", "--format=%B", outcome.head_sha)
    assert said.startswith(f"{subject}\n\n")
    assert "All of it." in said
    assert done.changed() == ["cart.py"]


@pytest.mark.parametrize("field", ["answer", "summary"])
def test_l3_an_answer_keeps_its_words(tmp_path: Path, field: str) -> None:
    done = run(tmp_path, [finish(**{field: "It\0 sums\x1b."})], proves=False)
    assert done.outcome.summary == "It sums."


def told(done: Run) -> list[str]:
    """Return what the agent heard of what its change would lack."""
    payloads = (event.payload for event in done.events)
    return [
        one.text
        for one in payloads
        if isinstance(one, ErrorObservation) and one.reason == "left-out"
    ]


def left_out(outcome: Outcome) -> dict[str, LeftOutReason]:
    return {one.path: one.reason for one in outcome.left_out}


def test_the_agent_hears_once_what_is_left_out_and_people_read_the_rest(
    tmp_path: Path,
) -> None:
    make = "git init -q lib; echo x > lib/x; echo x > closed; chmod 0 closed"
    mend = shell("chmod 644 closed")
    done = run(tmp_path, [FIX, shell(make), finish(), mend, finish()], proves=False)
    [said] = told(done)
    assert "- `closed` is not readable." in said
    assert "- `lib` is a Git repository of its own." in said
    outcome = done.outcome
    assert outcome.kind is OutcomeKind.RESOLVED
    assert done.changed() == ["cart.py", "closed"]
    assert outcome.left_out == (
        LeftOut(path="lib", reason=LeftOutReason.NESTED_REPOSITORY),
    )
    assert (
        "Left out of the change (a Git repository of its own): `lib`." in outcome.notes
    )


def test_a_run_that_ends_before_it_can_be_mended_is_done_all_the_same(
    tmp_path: Path,
) -> None:
    make = shell("git init -q lib; echo x > lib/x")
    done = run(
        tmp_path,
        [FIX, make, finish()],
        limits=Limits(max_iterations=3),
        proves=False,
    )
    assert done.outcome.kind is OutcomeKind.RESOLVED
    assert told(done) == []
    assert left_out(done.outcome) == {"lib": LeftOutReason.NESTED_REPOSITORY}


def test_a_change_that_lacks_nothing_ends_at_once(tmp_path: Path) -> None:
    done = run(tmp_path, [FIX, finish()], proves=False)
    assert (told(done), done.outcome.left_out) == ([], ())


def test_work_that_was_stashed_is_a_change(tmp_path: Path) -> None:
    done = run(tmp_path, [FIX, shell("git stash -q"), finish(), finish()], proves=False)
    assert "`stash@{0}` is stashed" in told(done)[0]
    assert done.outcome.kind is OutcomeKind.RESOLVED
    assert done.changed() == ["cart.py"]
    assert "taken from `stash@{0}`" in done.outcome.notes[1]


def test_an_answer_brings_no_stash_along(tmp_path: Path) -> None:
    answer = finish(answer="It sums the prices.")
    done = run(tmp_path, [FIX, shell("git stash -q"), answer, answer], proves=False)
    assert (done.outcome.kind, done.outcome.head_sha) == (OutcomeKind.ANSWERED, "")
    assert left_out(done.outcome) == {"stash@{0}": LeftOutReason.STASH}


def test_l8_a_large_file_takes_no_other_edits_with_it(tmp_path: Path) -> None:
    large = shell("head -c 6000000 /dev/zero > data.bin")
    done = run(tmp_path, [FIX, large, finish(), finish()], proves=False)
    assert "`data.bin` is too large" in told(done)[0]
    assert done.changed() == ["cart.py"]
    assert left_out(done.outcome) == {"data.bin": LeftOutReason.TOO_LARGE}
    assert done.outcome.warnings == ("Left out of the change (too large): `data.bin`.",)


def test_a_conflict_left_in_the_files_is_not_done(tmp_path: Path) -> None:
    tear = shell(
        "git switch -qc b; echo b > cart.py; git commit -qam b; git switch -q work;"
        "echo w > cart.py; git commit -qam w; git merge b; git add -A; git commit -qm m"
    )
    done = run(tmp_path, [tear, finish(), finish()], proves=False)
    assert "- `cart.py` has conflict markers." in told(done)[0]
    assert (done.outcome.kind, done.outcome.reason) == (
        OutcomeKind.NEEDS_INPUT,
        "merge-unfinished",
    )
    assert "<<<<<<< HEAD" in done.show("cart.py")


def test_a_file_that_git_checks_refuse_is_left_out_alone(tmp_path: Path) -> None:
    bad = shell(
        "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -oops\\n' > .gitmodules;"
        'python3 -c \'print("a " + "b" * 3000)\' > .gitattributes'
    )
    done = run(tmp_path, [FIX, bad, finish()], proves=False)
    assert done.changed() == ["cart.py"]
    assert left_out(done.outcome) == {
        ".gitattributes": LeftOutReason.REFUSED_BY_GIT,
        ".gitmodules": LeftOutReason.REFUSED_BY_GIT,
    }


def test_a_file_for_lfs_is_remarked_and_one_to_encrypt_stays_here(
    tmp_path: Path,
) -> None:
    make = shell(
        "printf '*.bin filter=lfs\\n*.key filter=git-crypt\\n' > .gitattributes;"
        "echo raw > new.bin; echo secret > my.key;"
        "printf 'version https://git-lfs.github.com/spec/v1\\n' > pointer.bin"
    )
    done = run(tmp_path, [FIX, make, finish()], proves=False)
    assert done.changed() == [".gitattributes", "cart.py", "new.bin", "pointer.bin"]
    assert left_out(done.outcome) == {"my.key": LeftOutReason.ENCRYPTED}
    assert done.outcome.warnings[0].startswith("`new.bin` is stored as it is")
