"""Issues that go to another project."""

from dataclasses import replace

from tests.fakes.gitlab.acts import threads
from tests.fakes.gitlab.acts.notes import name_discussion, write_system_note
from tests.fakes.gitlab.exchange import refused
from tests.fakes.gitlab.state import Project, World
from tests.fakes.gitlab.thread_state import Thread


def move_issue(world: World, issue: Thread, target: Project, actor: int) -> Thread:
    """Open it there with what was said, and close it here; return the new one.

    https://docs.gitlab.com/api/issues/#move-an-issue
    """
    if target.id == issue.project:
        text = "Cannot move issue to project it originates from!"
        raise refused(400, text)
    draft = threads.Draft(
        title=issue.title,
        description=issue.description,
        labels=issue.labels,
        assignees=issue.assignees,
        confidential=issue.confidential,
    )
    there = threads.open_issue(world, target, issue.author, draft)
    for note in world.notes_of(issue):
        number = world.next_id()
        world.notes[number] = replace(
            note,
            id=number,
            thread=there.id,
            discussion=name_discussion(number),
        )
    source = world.projects[issue.project]
    write_system_note(world, there, actor, f"moved from {source.path}#{issue.iid}")
    write_system_note(world, issue, actor, f"moved to {target.path}#{there.iid}")
    world.put_thread(replace(world.threads[issue.id], moved_to=there.id))
    threads.close(world, world.threads[issue.id], actor)
    return there
