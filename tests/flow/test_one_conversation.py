"""Scratch W3."""

from pathlib import Path

from patchwright.core.types.work import OutcomeKind
from tests.fakes.llm import call
from tests.flow.office import Office, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns


def show(o: Office, thread: str) -> None:
    for m in o.slack.answers(thread):
        print("----- slack", m.ts); print(m.shown); print(o.slack.fake.buttons(m))
    for m in o.slack.whispers():
        print("===== whisper", m.thread_ts); print(m.shown); print(o.slack.fake.buttons(m))
    for key in list(o.jira.fake.world.issues):
        for c in o.jira.answers(key):
            print("----- jira", key, c.id); print(c.body.wiki or c.body.adf)
    for i in o.story.github.world.issues_of(REPO):
        print("##### github", i.number, i.title, i.author); print(i.body)
        o.story.replies(i.number), o.story.pings(i.number)
        for c in o.story.github.comments(REPO, i.number):
            print("  >>", c.author, c.body)
    for j in o.story.jobs():
        print(j.id[:6], j.conversation_id[:6], j.state, j.outcome and (j.outcome.kind, j.outcome.reason, j.outcome.summary), j.trigger.thread)


def test_t10(tmp_path: Path) -> None:
    seen = []
    def ask(request: Request):
        seen.append(asked(request))
        return call("ask_user", question="Round up or down?") if False else question
    question = "Should prices be rounded up or down?"
    fix = fix_turns()
    with in_office(tmp_path, in_turn(ask, *fix, *fix), cloud=False) as o:
        key = o.jira.fake.create("APP", o.jira.zoe, "Wrong sum", "The total ignores the PIECES-WORD of a row.")
        o.jira.tell()
        thread = o.slack.ask(f"please fix {key}")
        o.story.work()
        show(o, thread)
        print("TASK", seen[0][-3000:])
        o.jira.fake.comment(key, o.jira.ann, "Down, please.")
        print(o.jira.tell())
        o.story.work()
        show(o, thread)
        pulls = o.story.github.pull_requests(REPO)
        print(pulls)
        o.story.say(pulls[0].number, "@patchwright also cover the empty cart")
        o.story.work()
        show(o, thread)
        print(len(o.story.github.pull_requests(REPO)))
