"""Read what people write under a ticket."""

from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.jira.reading.payloads import JiraCommentPayload
from patchwright.integrations.jira.reading.scene import TicketContext
from patchwright.integrations.jira.reading.words import (
    find_rich_request,
    read_markdown,
)


def read_comment(scene: TicketContext, comment: JiraCommentPayload, *, is_edit: bool) -> ParsedWebhook:
    """Read a comment: it asks at most once, however often it is edited.

    What an edited one said before is not told, nor whose words it has now: both who
    wrote it and who changed it are judged.
    """
    if scene.is_own(comment.author, comment.editor):
        return Ignored(reason="own-text")
    asker = (comment.editor or scene.user) if is_edit else comment.author
    if asker is None or not asker.ids:
        return Ignored(reason="nobody")
    request = find_rich_request(comment.body, scene.listening)
    if request is None and is_edit:
        return Ignored(reason="no-mention")
    text = read_markdown(comment.body)
    is_reply = request is None
    return scene.trigger(
        f"{'reply' if is_reply else 'comment'}:{comment.id}",
        TriggerKind.REPLY if is_reply else TriggerKind.COMMENT_MENTION,
        asker,
        request=text if request is None else request,
        text=text,
        post_id=comment.id,
        others=(comment.author, comment.editor),
        audience=comment.audience,
    )
