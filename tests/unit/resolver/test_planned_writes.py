"""What a dry run says that it would write, in the words of each forge."""

import pytest

from patchwright.core.forge import PullMetadata, PullRequestText
from patchwright.core.types.threads import USUAL_FORMS, ForgeForms, RepoRef
from patchwright.integrations.gitlab.settings import FORMS as GITLAB_FORMS
from patchwright.resolver.messages import planned_writes as planned

SHOP = RepoRef(forge="any", full_name="acme/shop")
TEXT = PullRequestText(title="Count every piece", body="", draft=True)
GITHUB = """\
Open a draft pull request in acme/shop, from `work` into `main`: “Count every piece”.
Set on the new pull request:

- labels: bot
Ask alice to review the new pull request.
Update acme/shop#5 as a draft pull request: “Count every piece”.
Set on acme/shop#5:

- labels: bot
Ask alice to review acme/shop#5."""
GITLAB = """\
Open a draft merge request in acme/shop, from `work` into `main`: “Count every piece”.
Set on the new merge request:

- labels: bot
Ask alice to review the new merge request.
Update acme/shop!5 as a draft merge request: “Count every piece”.
Set on acme/shop!5:

- labels: bot
Ask alice to review acme/shop!5."""


@pytest.mark.parametrize(
    ("forms", "told"), [(USUAL_FORMS, GITHUB), (GITLAB_FORMS, GITLAB)]
)
def test_a_proposal_is_called_as_people_call_it_there(
    forms: ForgeForms, told: str
) -> None:
    new, known = forms.pull(SHOP, planned.NO_NUMBER), forms.pull(SHOP, 5)
    wanted = PullMetadata(labels=("bot",))
    writes = [
        planned.opened_pull_request(new, "work", "main", TEXT),
        planned.put_metadata(new, wanted),
        planned.requested_review(new, ("alice",)),
        planned.updated_pull_request(known, TEXT),
        planned.put_metadata(known, wanted),
        planned.requested_review(known, ("alice",)),
    ]
    assert "\n".join(one.whole for one in writes if one) == told
