"""Where people are, before anything happens."""

import re
from dataclasses import dataclass

from tests.fakes.slack.acts import places
from tests.fakes.slack.state import Channel, File, Kind, World

SCOPES = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "chat:write",
        "commands",
        "files:read",
        "groups:history",
        "im:history",
        "im:write",
        "metadata.message:read",
        "mpim:history",
        "reactions:read",
        "reactions:write",
        "users:read",
    }
)


@dataclass(frozen=True)
class Scene:
    """Sets up workspaces; everything is named by its id."""

    world: World

    def add_workspace(self, name: str = "Acme", *, enterprise: str = "") -> str:
        """Make a team and return its id; `enterprise` is its organization's."""
        with self.world.lock:
            return places.add_workspace(self.world, name, enterprise).id

    def install(
        self, team: str, *, scopes: frozenset[str] = SCOPES, for_all: bool = False
    ) -> str:
        """Install the app, `for_all` in the whole organization; return the token."""
        with self.world.lock:
            found = places.install(self.world, team, scopes=scopes, for_all=for_all)
            return found.token

    def add_user(self, team: str, name: str, display_name: str = "") -> str:
        with self.world.lock:
            return places.add_person(self.world, team, name, display_name).id

    def add_channel(
        self,
        team: str,
        name: str,
        members: tuple[str, ...],
        *,
        private: bool = False,
        with_bot: bool = True,
        shared_with: tuple[str, ...] = (),
    ) -> str:
        """Make a channel, by default with the bot in it; return its id."""
        with self.world.lock:
            app = self.world.bot_of(team) if with_bot else None
            bot = app.bot_user if app else ""
            channel = Channel(
                id=self.world.new_id("G" if private else "C"),
                name=name,
                kind=Kind.GROUP if private else Kind.CHANNEL,
                team=team,
                members=frozenset(filter(None, (*members, bot))),
                shared_with=frozenset(shared_with),
            )
            return places.add_channel(self.world, channel).id

    def join(self, channel: str, user: str) -> None:
        with self.world.lock:
            places.join(self.world, self.world.channels[channel], user)

    def leave(self, channel: str, user: str) -> None:
        with self.world.lock:
            places.leave(self.world, self.world.channels[channel], user)

    def upload(self, user: str, name: str, mimetype: str, data: bytes) -> File:
        """Make a file, to be said along with a message."""
        with self.world.lock:
            team, file_id = self.world.people[user].team, self.world.new_id("F")
            url = f"{self.world.url}/files-pri/{team}-{file_id}/{_in_address(name)}"
            found = File(
                id=file_id,
                name=name,
                mimetype=mimetype,
                data=data,
                team=team,
                user=user,
                url_private=url,
            )
            self.world.files[url] = found
            return found


def _in_address(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name.lower())
