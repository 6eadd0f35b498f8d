"""Record golden files with the code of this tree: `python -m tests.golden.record`.

Each function tells a story and saves its database at one moment. For a new schema, set
`SCHEMA` to a new folder first: the files of earlier schemas stay as they are.
"""

import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from patchwright.workers.db.database import Database
from patchwright.workers.ops.liveness import process_name
from tests.adapters.cli.terminal import Shop
from tests.fakes.clock import FakeClock
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.attachments import upload
from tests.fakes.github.acts.builds import Report, run_job
from tests.fakes.github.acts.reviews import Remark, Spot
from tests.fakes.github.faults import Moment
from tests.fakes.github.seen import PullRequestSeen
from tests.fakes.github.webhooks.check_suites import SuiteDone, send_check_suite
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Script, TurnLike, call, status
from tests.flow.office import Office, in_office
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.tickets import calling, open_ticket, say, tell
from tests.golden import sample_database, storage
from tests.golden.samples import AT
from tests.golden.service import (
    GITHUB,
    JIRA,
    KEYS,
    REMAINING_TURNS,
    SERVICE,
    SETTINGS,
    finish_run,
    github_state,
    resumed_service,
)
from tests.golden.snapshot import snapshot

SCHEMA: Final = "v0015"
WISH: Final = "@patchwright please fix the sum"
PLAN: Final = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
RISKY: Final = call("shell", command="rm -rf ~/.ssh; touch was_run")
NOTE: Final = call("write", path="note.txt", content="From zero.\n")
NOTED: Final = call(
    "finish",
    title="Count from zero",
    summary="Counted.",
    reviews=[{"thread": 1, "verdict": "addressed", "text": "It counts from zero now."}],
)
ANSWER: Final = call("finish", summary="Looked.", answer="The pieces are not counted.")
PNG: Final = b"\x89PNG\r\n\x1a\nshot"
RULES: Final = {
    ".patchwright.toml": 'triggers = ["mention", "label", "review", "checks"]\n'
    'labels = ["bot"]\nreviewers = ["bob"]\n'
}
SCRIPTS: Final = {"total.sh": 'echo "$1"\n'}
SHELL_FIX: Final = [
    call(
        "write",
        path="test_pieces.sh",
        content='[ "$(sh total.sh 450 3)" = 1350 ] || { echo "wrong sum"; exit 1; }\n',
    ),
    call("shell", command="sh test_pieces.sh"),
    call("write", path="total.sh", content='echo "$(($1 * $2))"\n'),
    call(
        "finish",
        title="Count every piece",
        summary="The total ignored the pieces.",
        test_commands=["sh test_pieces.sh"],
    ),
]
MOVES: Final = {
    "PATCHWRIGHT_JIRA__TRANSITIONS": '{"on_start": "In Progress", "on_pr": "In Review"}'
}


def running(folder: Path) -> None:
    """Save a running job: plan, image, checkpoint, a comment that is not read yet."""

    def second(_request: Request) -> TurnLike:
        story.say(issue, "@patchwright mind the empty cart")
        story.clock.advance(61)
        return steps[1]

    def third(_request: Request) -> TurnLike:
        story.say(issue, "@patchwright and keep it short")
        _save_with_github("running", story)
        return steps[2]

    steps = fix_turns()
    turns = in_turn(steps[0], second, third, *steps[3:])
    with _telling(folder, turns, "running") as story:
        shot = upload(story.github.world, REPO, PNG)
        issue = story.ask(f"{WISH}\n\n![shot]({shot})")
        _work_and_read(story)


def delivering(folder: Path) -> None:
    """Save a delivery after the push and before the pull request."""
    with _telling(folder, fix_turns(), "delivering") as story:
        story.github.interrupt_next(
            "POST",
            "/pulls$",
            lambda: _save_with_github("delivering", story),
            moment=Moment.BEFORE,
        )
        story.ask(WISH)
        _work_and_read(story)


def planned(folder: Path) -> None:
    """Save a run that waits for the approval of its plan."""
    with _telling(folder, [PLAN], "planned") as story:
        story.ask("@patchwright plan a fix of the sum")
        _work_and_read(story)
        _save_with_github("planned", story)


def confirming(folder: Path) -> None:
    """Save a run that waits for the approval of a command."""
    with _telling(folder, [RISKY], "confirming") as story:
        story.ask(WISH)
        _work_and_read(story)
        _save_with_github("confirming", story)


def ended(folder: Path) -> None:
    """Save runs with different outcomes, and one that is queued."""

    def stop(_request: Request) -> TurnLike:
        story.say(stopped, "@patchwright stop")
        return NOTE

    more = call("write", path="more.txt", content="More.\n")
    added = call("finish", title="Say more", summary="Said more.")
    noted = [NOTE, NOTED, NOTE, NOTED]
    turns = in_turn(*fix_turns(), more, added, *noted, ANSWER, stop, status(401, "No."))
    with telling(folder, turns, settings=KEYS, files=RULES) as story:
        story.github.add_user("bob")
        story.github.grant(REPO, "bob", "write")
        story.ask(WISH)
        story.work_later(120)
        story.say(1, "@patchwright say more")
        story.work()
        _review(story)
        _fail_checks(story)
        labelled = story.github.open_issue(REPO, "alice", "Why?", "Why is that?")
        story.github.label(REPO, labelled, "patchwright", "alice")
        story.tell()
        story.work()
        stopped = story.ask(WISH, title="Stop it")
        story.work()
        story.ask(WISH, title="Fail")
        story.ask(WISH, author="eve", title="Refuse")
        story.say(labelled, "@patchwright why")
        story.work()
        story.github.close_issue(REPO, labelled, "alice")
        story.tell()
        story.ask(WISH, title="Wait")
        _read_all(story)
        _save("ended", story)


def linked(folder: Path) -> None:
    """Save a request from Slack with a linked account and a chosen repository."""
    settings = {**KEYS, "PATCHWRIGHT_JIRA__PROJECTS": "{}"}
    turns = in_turn(PLAN, *fix_turns())
    with in_office(folder, turns, mapped=False, settings=settings) as office:
        slack, story = office.slack, office.story
        thread = slack.ask("plan a fix of the total: it ignores the pieces")
        slack.ask("do nothing", user=slack.max)
        story.work()
        office.link(slack.whisper())
        story.work()
        slack.fake.search(slack.jo, slack.whisper(), "sho")
        slack.fake.pick(slack.jo, slack.whisper(), REPO)
        story.work()
        slack.fake.press(slack.jo, slack.runs(thread)[0], "Approve plan")
        story.work()
        _read_all(story)
        _read_office(office, thread)
        slack.whispers(slack.max)
        _save_office("linked", office)


def tickets(folder: Path) -> None:
    """Save a conversation with a Slack thread, a Jira ticket and a pull request."""
    first, *rest = fix_turns()
    turns = in_turn(*["In cents, or in euros?"] * 3, first, *rest, ANSWER)
    with in_office(folder, turns, settings={**KEYS, **MOVES}) as office:
        story, slack = office.story, office.slack
        key = open_ticket(office)
        thread = slack.ask(f"please fix the total, see {key}")
        story.work()
        say(office, key, "In cents, always.")
        say(office, key, calling(office, "why?"))
        tell(office)
        _read_all(story)
        _read_office(office, thread)
        office.jira.answers(key)
        _save_office("tickets", office)


def samples(folder: Path) -> None:
    """Save the database of sample values."""
    file, log = folder / "samples.db", folder / "run.jsonl"
    sample_database.make(file, log)
    _write("samples", file, AT)
    storage.write(f"{SCHEMA}/samples.run.jsonl", log.read_bytes())


def command_line(folder: Path) -> None:
    """Save a run of the command line: log, trajectory, repository."""
    shop = Shop(folder, folder)
    for name, text in SCRIPTS.items():
        shop.tree.write(name, text.encode())
    shop.tree.commit("Sell")
    storage.write(f"{SCHEMA}/command_line.bundle", shop.tree.bundle("--all"))
    with FakeProvider(SHELL_FIX) as provider:
        ended = shop.resolve(provider, "--events", "run.jsonl", "--json")
    assert ended.answer["outcome"] == "resolved", ended
    told = shop.call("replay", "run.jsonl", "--export", "run.json")
    shown = shop.call("replay", "run.jsonl", "--json")
    assert (told.code, shown.code) == (0, 0), told
    for name in ("run.jsonl", "run.json"):
        storage.write(f"{SCHEMA}/command_line.{name}", (folder / name).read_bytes())
    storage.write_json(f"{SCHEMA}/command_line.shown", shown.answer)


STORIES: Final[tuple[Callable[[Path], None], ...]] = (
    running,
    delivering,
    planned,
    confirming,
    ended,
    linked,
    tickets,
    samples,
    command_line,
)


def main(folder: Path, names: Sequence[str]) -> None:
    """Record the stories with these names, or all of them."""
    for tell_story in STORIES:
        if not names or tell_story.__name__ in names:
            tell_story(_place(folder, tell_story.__name__))
    for name in SETTINGS.keys() & (names or SETTINGS.keys()):
        place = _place(folder, f"{name}-again")
        with resumed_service(f"{SCHEMA}/{name}", place, REMAINING_TURNS[name]) as story:
            storage.write_json(f"{SCHEMA}/{name}.asked", finish_run(story, name))
            _read_all(story)


def _place(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    place.chmod(0o711)
    return place


def _telling(folder: Path, turns: Script, name: str) -> AbstractContextManager[Story]:
    settings = {**KEYS, **SETTINGS[name]}
    return telling(folder, turns, settings=settings, as_app=False)


def _work_and_read(story: Story) -> None:
    story.work()
    _read_all(story)


def _read_all(story: Story) -> None:
    for issue in story.github.world.issues_of(REPO):
        story.replies(issue.number)


def _read_office(office: Office, thread: str) -> None:
    office.slack.answers(thread)
    office.slack.opened()
    office.slack.whispers()


def _review(story: Story) -> None:
    """Let bob ask for a change of one line of our pull request."""
    remark = Remark(spot=Spot(path="cart.py", line=5), body="@patchwright count from 0")
    told = len(story.github.deliveries)
    reviews.submit_review(
        story.github.world,
        REPO,
        _our_pull(story).number,
        author="bob",
        state="CHANGES_REQUESTED",
        remarks=[remark],
    )
    for delivery in story.github.deliveries[told:]:
        story.deliver(delivery)
    story.work()


def _fail_checks(story: Story) -> None:
    world, pull = story.github.world, _our_pull(story)
    run_job(world, REPO, pull.head_sha, Report(name="lint"), "E501 Line too long")
    done = SuiteDone(
        repo=REPO,
        branch=pull.head_branch,
        sha=pull.head_sha,
        conclusion="failure",
        actor="alice",
    )
    send_check_suite(world, done)
    story.tell()
    story.work()


def _our_pull(story: Story) -> PullRequestSeen:
    [pull] = story.github.pull_requests(REPO)
    return pull


def _save_with_github(name: str, story: Story) -> None:
    world = json.dumps(github_state(story)).replace(story.github.web_url, GITHUB)
    storage.write_json(f"{SCHEMA}/{name}.github", json.loads(world))
    _save(name, story)


def _save_office(name: str, office: Office) -> None:
    jira = office.jira.fake.base_url
    host = {urlsplit(jira).netloc: urlsplit(JIRA).netloc}
    _save(name, office.story, {jira: JIRA, **host})


def _save(name: str, story: Story, more: Mapping[str, str] | None = None) -> None:
    """Copy the database, with fixed names for the hosts of this machine."""
    source = story.base.database.engine.url.database
    assert source is not None
    names = {
        story.github.web_url: GITHUB,
        story.url: SERVICE,
        process_name(): "host.test:1",
        **(more or {}),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "copy.db")
        with (
            closing(sqlite3.connect(source)) as here,
            closing(sqlite3.connect(file)) as there,
        ):
            here.backup(there)
        for old, new in names.items():
            storage.replace(file, old, new)
        _write(name, file, story.clock.now())


def _write(name: str, file: Path, at: datetime) -> None:
    storage.write(f"{SCHEMA}/{name}.sql", storage.dump(file).encode())
    clock = FakeClock(at)
    with closing(Database(f"sqlite:///{file}", clock=clock)) as database:
        found = snapshot(database, clock)
    storage.write_json(f"{SCHEMA}/{name}", {"at": at.isoformat(), "found": found})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
        Path(temporary).chmod(0o711)
        main(Path(temporary), sys.argv[1:])
