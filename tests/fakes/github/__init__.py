"""A stateful GitHub on loopback: REST, webhooks, and git over smart HTTP."""

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.bare import File
from tests.fakes.github.dispatch import RequestSeen
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.faults import When
from tests.fakes.github.seen import PullRequestSeen
from tests.fakes.github.state import Comment, Delivery, Issue, Reaction
from tests.fakes.github.webhooks.sending import Receipt, deliver

__all__ = [
    "Comment",
    "Delivery",
    "FakeGitHub",
    "File",
    "Issue",
    "Proposal",
    "PullRequestSeen",
    "Reaction",
    "Receipt",
    "RequestSeen",
    "When",
    "deliver",
]
