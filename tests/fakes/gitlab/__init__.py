"""A stateful GitLab on loopback: REST, webhooks, OAuth, pages, and git over HTTP."""

from tests.fakes.github.bare import File
from tests.fakes.github.faults import Moment, When
from tests.fakes.github.state import Delivery
from tests.fakes.github.webhooks.sending import Receipt, deliver
from tests.fakes.gitlab.acts.builds import Report
from tests.fakes.gitlab.acts.merges import Proposal, Remark, Spot
from tests.fakes.gitlab.fake import ISSUE, MERGE_REQUEST, FakeGitLab
from tests.fakes.gitlab.seen import MergeRequestSeen
from tests.fakes.gitlab.site import Place
from tests.fakes.gitlab.state import Level, PushRules, Visibility
from tests.fakes.gitlab.thread_state import Award, Note, Thread, ThreadKind

__all__ = [
    "ISSUE",
    "MERGE_REQUEST",
    "Award",
    "Delivery",
    "FakeGitLab",
    "File",
    "Level",
    "MergeRequestSeen",
    "Moment",
    "Note",
    "Place",
    "Proposal",
    "PushRules",
    "Receipt",
    "Remark",
    "Report",
    "Spot",
    "Thread",
    "ThreadKind",
    "Visibility",
    "When",
    "deliver",
]
