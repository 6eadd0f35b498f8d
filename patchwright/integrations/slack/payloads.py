"""The fields of Slack's answers that are read; everything else is passed over."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

# Slack sends null, or leaves out, what does not apply; and what other apps put into
# their messages has any form.
Text = Annotated[str, BeforeValidator(lambda v: v if isinstance(v, str) else "")]
# As with texts, Slack may send null for what does not apply.
Flag = Annotated[bool, BeforeValidator(lambda value: value is True)]
Entry = TypeVar("Entry")
Several = Annotated[
    tuple[Entry, ...],
    BeforeValidator(
        lambda v: [e for e in v if isinstance(e, dict)] if isinstance(v, list) else ()
    ),
]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Done(Part):
    """An answer of which nothing is read."""


class Identity(Part):
    """https://docs.slack.dev/reference/methods/auth.test."""

    url: Text = ""
    team: Text = ""
    team_id: Text = ""
    user: Text = ""
    user_id: Text = ""
    bot_id: Text = ""
    enterprise_id: Text = ""
    is_enterprise_install: bool = False


class Posted(Part):
    """`ts` names the message, `channel` is where it came to stand."""

    ts: str
    channel: str


class Profile(Part):
    display_name: Text = ""
    real_name: Text = ""


class User(Part):
    id: str
    name: Text = ""
    real_name: Text = ""
    profile: Profile = Profile()

    @property
    def shown(self) -> str:
        """The name that others see; people may leave any of them empty."""
        profile = self.profile
        names = (profile.display_name, profile.real_name, self.real_name, self.name)
        return next(filter(None, names), self.id)


class UserFound(Part):
    user: User


class Place(Part):
    id: str


class PlaceOpened(Part):
    channel: Place


class Permalink(Part):
    permalink: str


class File(Part):
    """https://docs.slack.dev/reference/objects/file-object."""

    id: Text = ""
    name: Text = ""
    title: Text = ""
    mimetype: Text = ""
    mode: Text = ""
    url_private: Text = ""


class Field(Part):
    title: Text = ""
    value: Text = ""


class Blocks(Part):
    blocks: Several[dict[str, Any]] = ()


class ForwardedBlocks(Part):
    message: Annotated[
        Blocks, BeforeValidator(lambda v: v if isinstance(v, dict) else {})
    ] = Blocks()


class Attachment(Part):
    """What an app added in the older way, a message forwarded, or a link's preview.

    https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
    """

    author_id: Text = ""
    author_name: Text = ""
    channel_name: Text = ""
    pretext: Text = ""
    title: Text = ""
    title_link: Text = ""
    text: Text = ""
    fallback: Text = ""
    fields: Several[Field] = ()
    blocks: Several[dict[str, Any]] = ()
    message_blocks: Several[ForwardedBlocks] = ()
    files: Several[File] = ()
    from_url: Text = ""
    is_msg_unfurl: Flag = False
    is_share: Flag = False

    @property
    def is_message(self) -> bool:
        """Tell whether it shows a message of Slack's, forwarded or linked to."""
        return self.is_msg_unfurl or self.is_share


class Content(Part):
    """What people see of a message."""

    text: Text = ""
    blocks: Several[dict[str, Any]] = ()
    attachments: Several[Attachment] = ()
    files: Several[File] = ()


class BotProfile(Part):
    name: Text = ""


class Edited(Part):
    ts: Text = ""


class EventPayload(Part):
    """What we noted in our message; `marks` has one in each line."""

    marks: Text = ""
    part_of: Text = ""


class Metadata(Part):
    event_type: Text = ""
    event_payload: Annotated[
        EventPayload, BeforeValidator(lambda v: v if isinstance(v, dict) else {})
    ] = EventPayload()


class Message(Content):
    """https://docs.slack.dev/reference/events/message."""

    ts: str
    user: Text = ""
    username: Text = ""
    subtype: Text = ""
    bot_id: Text = ""
    team: Text = ""
    user_team: Text = ""
    reply_count: int = 0
    bot_profile: BotProfile | None = None
    edited: Edited | None = None
    metadata: Metadata | None = None


class Next(Part):
    next_cursor: Text = ""


class Messages(Part):
    messages: tuple[Message, ...] = ()
    response_metadata: Next | None = None

    @property
    def cursor(self) -> str:
        return self.response_metadata.next_cursor if self.response_metadata else ""


class Group(Part):
    id: Text = ""
    name: Text = ""


class Access(Part):
    """https://docs.slack.dev/reference/methods/oauth.v2.access."""

    access_token: str
    scope: Text = ""
    team: Group | None = None
    enterprise: Group | None = None
    is_enterprise_install: bool = False
