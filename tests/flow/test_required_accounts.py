"""Where everybody needs an account, people on the forge sign in before a run works."""

from pathlib import Path

from patchwright.resolver.job import JobState
from tests.adapters.web.browser import browsing, go_on
from tests.fakes.github.acts.sign_ins import sit_down
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.provision.servers import free_port

REQUIRED = {"PATCHWRIGHT_ACCOUNTS__LINKING": "required"}
WISH = "@patchwright please fix the sum"


def sign_in(story: Story, login: str) -> None:
    sit_down(story.github.world, login)
    with browsing() as browser:
        begun = browser.get(f"{story.url}/auth/github/login")
        go_on(browser, go_on(browser, begun))


def test_a_request_waits_for_the_sign_in_of_its_person(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with telling(
        tmp_path, fix_turns(), port=port, signs_in_at=url, settings=REQUIRED
    ) as story:
        issue = story.ask(WISH)
        story.work()
        asked = story.reply(issue)
        assert asked.startswith("**Needs you** · [run](")
        assert asked.split("\n\n")[1] == (
            f"Please [sign in with GitHub]({url}/auth/github/login) once: this service "
            "works only for people with an account. Then I continue with your request."
        )
        assert "Reply here" not in asked
        assert story.jobs()[0].state is JobState.WAITING_USER
        # Somebody else who signs in is not the one who asked.
        sign_in(story, "eve")
        story.work()
        assert story.jobs()[0].state is JobState.WAITING_USER
        sign_in(story, "alice")
        story.work()
        assert "**Done, proven**" in story.reply(issue)
        assert len(story.github.pull_requests(REPO)) == 1
        # Once is enough.
        assert len(story.jobs()) == 1


def test_a_stranger_is_not_asked_to_sign_in(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with telling(tmp_path, [], port=port, signs_in_at=url, settings=REQUIRED) as story:
        issue = story.ask(WISH, author="eve")
        story.work()
        assert "sign in" not in "".join(story.replies(issue))
