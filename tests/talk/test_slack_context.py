"""What the model sees of a thread in Slack: words as people read them, and files."""

import base64
from pathlib import Path

from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Workspace, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import fix_turns

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
    "hgGAWjR9awAAAABJRU5ErkJggg=="
)

READ = (
    "fix https://github.com/acme/shop/issues/5 (#5) when a < b && c in acme/shop, "
    "as @Max says in #shop-dev"
)


def test_s70_the_model_reads_what_people_read(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        told = asked(request)
        assert READ in told
        assert "`total([450], [3])` is 450 in acme/shop & so" in told
        assert slack.bot not in told
        assert "<@" not in told
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(see, *rest)) as office:
        slack = office.slack
        thread = slack.fake.say(
            slack.max, slack.channel, "`total([450], [3])` is 450 in acme/shop &amp; so"
        )
        slack.ask(
            "fix <https://github.com/acme/shop/issues/5|#5> when a &lt; b &amp;&amp; c"
            f" in acme/shop, as <@{slack.max}> says in <#{slack.channel}|shop-dev>",
            thread=thread,
        )
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown


def share(slack: Workspace, text: str) -> str:
    """Mention the bot in a message with a picture and a log."""
    scene = slack.fake.scene
    files = (
        scene.upload(slack.jo, "cart.png", "image/png", PNG),
        scene.upload(slack.jo, "cart.log", "text/plain", b"total is 450\n"),
    )
    return slack.fake.say(
        slack.jo, slack.channel, f"<@{slack.bot}> {text}", files=files
    )


def test_pictures_and_files_of_a_thread_reach_the_model(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        task = next(m for m in request["messages"] if isinstance(m["content"], list))
        text, image = task["content"]
        assert "cart.log" in text["text"]
        assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        return call("shell", command="ls /workspace/context/images")

    with in_office(tmp_path, in_turn(see, *fix_turns())) as office:
        thread = share(office.slack, "fix the total in acme/shop")
        office.story.work()
        assert "|pull request #1>" in office.slack.runs(thread)[0].shown
