"""The fields of Slack's messages that people see: text, blocks, files, attachments."""

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


class SlackModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class SlackFile(SlackModel):
    """https://docs.slack.dev/reference/objects/file-object."""

    id: Text = ""
    name: Text = ""
    title: Text = ""
    mimetype: Text = ""
    mode: Text = ""
    url_private: Text = ""


class AttachmentField(SlackModel):
    title: Text = ""
    value: Text = ""


class MessageBlocks(SlackModel):
    blocks: Several[dict[str, Any]] = ()


class ForwardedBlocks(SlackModel):
    message: Annotated[
        MessageBlocks, BeforeValidator(lambda v: v if isinstance(v, dict) else {})
    ] = MessageBlocks()


class SlackAttachment(SlackModel):
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
    fields: Several[AttachmentField] = ()
    blocks: Several[dict[str, Any]] = ()
    message_blocks: Several[ForwardedBlocks] = ()
    files: Several[SlackFile] = ()
    from_url: Text = ""
    is_msg_unfurl: Flag = False
    is_share: Flag = False

    @property
    def is_message(self) -> bool:
        """Tell whether it shows a message of Slack's, forwarded or linked to."""
        return self.is_msg_unfurl or self.is_share


class MessageContent(SlackModel):
    """What people see of a message."""

    text: Text = ""
    blocks: Several[dict[str, Any]] = ()
    attachments: Several[SlackAttachment] = ()
    files: Several[SlackFile] = ()
