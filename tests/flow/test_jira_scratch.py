"""Scratch."""
from tests.flow.office import in_office
from tests.flow.script import in_turn
from tests.flow.story import fix_turns
import pytest, json

@pytest.mark.parametrize("cloud", [True, False])
def test_x(tmp_path, cloud):
    with in_office(tmp_path, in_turn(*fix_turns()), cloud=cloud, settings={"PATCHWRIGHT_JIRA__TRANSITIONS": json.dumps({"on_start": "In Progress", "on_pr": "In Review", "on_merge": "Done"})}) as o:
        key = o.jira.fake.create("APP", o.jira.ann, "Wrong sum", "The total ignores the pieces.")
        o.jira.fake.comment(key, o.jira.ann, o.jira.fake.mention(o.jira.fake.bot) + " please fix this")
        print(o.jira.tell())
        o.story.work()
        for c in o.jira.answers(key):
            print("-----", c.id, c.properties); print(c.body.wiki); print(json.dumps(c.body.adf, indent=1) if cloud else "")
        for p in o.story.github.world.pulls_of("acme/shop") if hasattr(o.story.github.world, "pulls_of") else []:
            print(p)
        print(o.jira.fake.remote_links(key), o.jira.fake.issue(key).status, o.story.branches())
        for r in o.jira.fake.requests: print(r.method, r.path, r.status)
        print(o.jira.tell()); o.story.work()
