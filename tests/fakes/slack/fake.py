"""A Slack to test against: people act by method call, programs over real HTTP."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock, SystemClock
from tests.fakes.github.server import Server
from tests.fakes.slack import oauth
from tests.fakes.slack.acts import app, places, pressing, talking
from tests.fakes.slack.acts.talking import Said
from tests.fakes.slack.faults import Faults
from tests.fakes.slack.outbox import Outbox
from tests.fakes.slack.render.interactions import Source
from tests.fakes.slack.scene import SCOPES, Scene
from tests.fakes.slack.sending import Delivery, Receipt, of_command, of_interaction
from tests.fakes.slack.state import (
    App,
    Ephemeral,
    File,
    Installation,
    Json,
    Message,
    View,
    World,
)
from tests.fakes.slack.web_api import CallSeen, WebApi

SYSTEM_CLOCK = SystemClock()


class FakeSlack:
    """Answers while its `with` block runs; everything it holds is gone afterwards.

    Set it up with `scene`: `add_workspace`, `install` (returns the bot token),
    `add_user`, `add_channel`, `upload`. Then people act: `mention`, `say` (in a
    channel, a thread or, in `direct(user)`, to the bot), `slash`, `press`, `pick`,
    `submit`, `edit`, `delete`, `react`, `open_home`, `shortcut`, `message_shortcut`,
    `uninstall`. Each act is signed and sent at once to the address given to `send_to`,
    and returns when the answer came; without an address it is kept in `deliveries`
    alone, as all of them are. What the app itself does is announced by nothing.
    `faults` are what the next calls are to fail by. What became of it is read from
    `thread`, `messages`, `ephemerals`, `reactions`, `home`, `form`; `shown` of each is
    all that readers see, and `buttons` what they can press. Where `PATCHWRIGHT_CORPUS`
    names outside data, each call and answer is held against it, and the block ends with
    an error if something was wrong.
    """

    def __init__(
        self,
        *,
        signing_secret: str = "slack-signing-secret",
        redirect_uris: tuple[str, ...] = (),
        scopes: frozenset[str] = SCOPES,
        clock: Clock = SYSTEM_CLOCK,
        port: int = 0,
        name: str = "",
    ) -> None:
        self.app = App(
            id="A1",
            client_id="1.2",
            client_secret="slack-client-secret",
            signing_secret=signing_secret,
            redirect_uris=redirect_uris,
            scopes=scopes,
        )
        self.world = World(app=self.app, clock=clock)
        self._web = WebApi(self.world, Faults(self.world))
        self._server = Server(self._web.respond, port)
        self.address = self._server.address
        self.world.url = name or self._server.url
        self.api_url = f"{self.world.url}/api"
        self.scene = Scene(self.world)
        self.faults = self._web.faults
        self._outbox = Outbox(self.world)
        self.deliveries = self._outbox.deliveries

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.__exit__(kind, problem, trace)
        if problem is None:
            self._web.journal.check()

    def send_to(self, url: str) -> None:
        """Send what happens from now on to this address, as the manifest would say."""
        self._outbox.url = url

    def connect_by(self, open_connection: Callable[[str], Json]) -> None:
        """Let this answer who asks for a connection with a token."""
        self._web.open_connection = open_connection

    def bot(self, team: str) -> str:
        """Return the user id of the app in a workspace."""
        return self._installed(team).bot_user

    def direct(self, user: str) -> str:
        """Return the channel of the talk between a person and the bot."""
        with self.world.lock:
            bot = self._installed(self.world.people[user].team)
            return places.open_direct(self.world, bot, user).id

    def redeliver(
        self, delivery: Delivery, reason: str = "http_timeout"
    ) -> Receipt | None:
        """Send it again, as Slack does up to three times after a bad answer."""
        return self._outbox.redeliver(delivery, reason)

    def mention(self, user: str, channel: str, text: str, thread_ts: str = "") -> str:
        """Say something to the bot in a channel or thread; return the time stamp."""
        bot = self._installed(self.world.channels[channel].team)
        return self.say(user, channel, f"<@{bot.bot_user}> {text}", thread_ts)

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str = "",
        *,
        files: tuple[File, ...] = (),
        subtype: str = "",
        blocks: tuple[Json, ...] = (),
        attachments: tuple[Json, ...] = (),
    ) -> str:
        """Say something as it comes over the wire, in mrkdwn; return the time stamp."""
        said = Said(
            user=user,
            text=text,
            thread_ts=thread_ts,
            files=files,
            subtype=subtype,
            blocks=blocks,
            attachments=attachments,
        )
        with self.world.lock:
            where = self.world.channels[channel]
            message, told = talking.say(self.world, where, said)
        self._outbox.tell(told)
        return message.ts

    def edit(self, channel: str, ts: str, text: str) -> None:
        with self.world.lock:
            _, told = talking.edit(self.world, self.message(channel, ts), text)
        self._outbox.tell(told)

    def unfurl(self, channel: str, ts: str, url: str) -> None:
        with self.world.lock:
            told = talking.unfurl(self.world, self.message(channel, ts), url)
        self._outbox.tell(told)

    def delete(self, channel: str, ts: str) -> None:
        with self.world.lock:
            told = talking.delete(self.world, self.message(channel, ts))
        self._outbox.tell(told)

    def react(self, user: str, channel: str, ts: str, name: str) -> None:
        with self.world.lock:
            message = self.message(channel, ts)
            told = talking.react(self.world, message, user, name)
        self._outbox.tell(told)

    def slash(
        self, user: str, channel: str, text: str, command: str = "/patchwright"
    ) -> Receipt | None:
        """Send a slash command; return what the app answered at once."""
        with self.world.lock:
            fields = app.command(self.world, user, channel, f"{command} {text}")
        return self._outbox.send(of_command(fields))

    def press(self, user: str, source: Source, label: str) -> Receipt | None:
        """Press a button of a message, an ephemeral one, or a view."""
        with self.world.lock:
            payload = pressing.press(self.world, user, source, label)
        return self._outbox.send(of_interaction(payload))

    def search(self, user: str, source: Source, query: str) -> list[str]:
        """Type into the repository field; return the options that the app offers."""
        return [option["value"] for option in self._options(user, source, query)]

    def pick(self, user: str, source: Source, repository: str) -> Receipt | None:
        """Find a repository in the field, and take it."""
        options = self._options(user, source, repository)
        fitting = [one for one in options if one["value"] == repository]
        if not fitting and self._outbox.url:
            raise LookupError(f"{repository} is not offered, but {options}")
        text = {"type": "plain_text", "text": repository, "emoji": True}
        option = fitting[0] if fitting else {"text": text, "value": repository}
        with self.world.lock:
            payload = pressing.pick(self.world, user, source, option)
        return self._outbox.send(of_interaction(payload))

    def submit(self, form: View, words: dict[str, str]) -> Receipt | None:
        """Send a form; `words` are by the labels of the fields."""
        with self.world.lock:
            payload = pressing.submit(self.world, form, dict(words))
        return self._outbox.send(of_interaction(payload))

    def shortcut(self, user: str, callback_id: str) -> Receipt | None:
        with self.world.lock:
            payload = pressing.shortcut(self.world, user, callback_id)
        return self._outbox.send(of_interaction(payload))

    def message_shortcut(
        self, user: str, channel: str, ts: str, callback_id: str = "fix_this"
    ) -> Receipt | None:
        """Choose a shortcut in a message's menu."""
        with self.world.lock:
            message = self.message(channel, ts)
            payload = pressing.message_shortcut(self.world, user, message, callback_id)
        return self._outbox.send(of_interaction(payload))

    def open_home(self, user: str) -> None:
        with self.world.lock:
            bot = self._installed(self.world.people[user].team)
            told = app.open_home(self.world, bot, user)
        self._outbox.tell(told)

    def uninstall(self, team: str) -> None:
        """Remove the app: its token dies, and Slack tells of both."""
        with self.world.lock:
            told = app.uninstall(self.world, self._installed(team), team)
        self._outbox.tell(told)

    def approve(
        self, address: str, user: str, team: str, *, for_all: bool = False
    ) -> str:
        """Agree to install the app; return where Slack sends the browser."""
        with self.world.lock:
            return oauth.approve(self.world, address, user, team, for_all=for_all)

    @property
    def calls(self) -> list[CallSeen]:
        """The calls of the Web API so far."""
        with self.world.lock:
            return list(self._web.calls)

    def delivery(self, name: str) -> Delivery:
        """Return the newest delivery of that name, such as `app_mention`."""
        for one in reversed(self.deliveries):
            if one.name == name:
                return one
        raise LookupError(f"no {name} among {[one.name for one in self.deliveries]}")

    def message(self, channel: str, ts: str) -> Message:
        with self.world.lock:
            return self.world.messages[channel, ts]

    def messages(self, channel: str) -> list[Message]:
        """Return what stands in the channel itself, oldest first."""
        with self.world.lock:
            found = self.world.in_channel(channel)
            return [message for message in found if not message.is_reply]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """Return a thread as it reads now, the root first."""
        with self.world.lock:
            return self.world.in_thread(channel, ts)

    def ephemerals(self, user: str) -> list[Ephemeral]:
        with self.world.lock:
            return [one for one in self.world.ephemerals if one.user == user]

    def reactions(self, channel: str, ts: str) -> list[str]:
        """Return the names of the reactions to a message, oldest first."""
        with self.world.lock:
            given = self.world.reactions.get((channel, ts), [])
            return [name for _, name in given]

    def home(self, user: str) -> View:
        with self.world.lock:
            return self.world.homes[user]

    def form(self, user: str) -> View:
        """Return the form that a person has open."""
        with self.world.lock:
            return next(one for one in reversed(self.world.forms) if one.user == user)

    @staticmethod
    def buttons(source: Source) -> list[str]:
        """Return the words of the buttons that can be pressed there."""
        return pressing.labels(source)

    def _installed(self, team: str) -> Installation:
        found = self.world.bot_of(team)
        if found is None:
            raise LookupError(f"the app is not installed in {team}")
        return found

    def _options(self, user: str, source: Source, query: str) -> list[Json]:
        with self.world.lock:
            payload = pressing.search(self.world, user, source, query)
        receipt = self._outbox.send(of_interaction(payload))
        options: list[Json] = receipt.json().get("options", []) if receipt else []
        problems = pressing.option_problems(options)
        if problems:
            raise ValueError("; ".join(problems))
        return options
