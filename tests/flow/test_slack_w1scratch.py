"""Scratch."""
import json
from tests.flow.office import in_office
from tests.flow.script import in_turn
from tests.flow.story import fix_turns
from tests.fakes.llm import call

def show(o, thread, ch=""):
    for m in o.slack.answers(thread, ch):
        print("----- msg", m.ts, m.metadata); print(m.shown); print("buttons", o.slack.fake.buttons(m))
def whisper(o, user=""):
    for m in o.slack.whispers(user):
        print("===== whisper", m.thread_ts); print(m.shown); print("buttons", o.slack.fake.buttons(m))

def test_line(tmp_path):
    plan = call("finish", title="Plan", summary="1. Reproduce\n2. Multiply by the pieces") 
    def stop(_r):
        m = o.slack.answers(thread)[-1]
        print("WHILE", m.shown, o.slack.fake.buttons(m))
        o.slack.fake.press(o.slack.jo, m, "Stop")
        return call("shell", command="ls")
    with in_office(tmp_path, in_turn("1. Reproduce\n2. Multiply by the pieces", *fix_turns(), *fix_turns()[:1], stop, *fix_turns()), mapped=False, settings={"PATCHWRIGHT_JIRA__PROJECTS": "{}"}) as o:
        thread = o.slack.ask("plan the fix of the total in the cart, it ignores pieces")
        o.story.work()
        show(o, thread); whisper(o)
        r = o.link(o.slack.whisper())
        print(r.status_code, r.text[-600:])
        o.story.work()
        show(o, thread); whisper(o)
        w = o.slack.whisper()
        print(o.slack.fake.search(o.slack.jo, w, "sho"), o.slack.fake.search(o.slack.jo, w, "acme/shop"))
        o.slack.fake.pick(o.slack.jo, w, "acme/shop")
        o.story.work()
        show(o, thread); whisper(o)
        m = o.slack.answers(thread)[0]
        o.slack.fake.press(o.slack.jo, m, "Approve plan")
        o.story.work()
        show(o, thread); whisper(o)
        o.slack.ask("also cover an empty cart", thread=thread)
        o.story.work()
        show(o, thread); whisper(o)
        print(o.slack.fake.reactions(o.slack.channel, thread))
        for j in o.story.jobs(): print(j.id, j.state, j.outcome.kind, j.outcome.reason)
        for i in o.story.github.world.issues_of("acme/shop"): print(i)
