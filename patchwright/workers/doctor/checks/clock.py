"""Check this machine's clock against GitHub's."""

from datetime import datetime
from typing import Final

from patchwright.integrations.github.standing import fetch_server_time
from patchwright.workers.connections import make_github_connection
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import CheckResult, failed, ok, skipped, warning

# GitHub takes no signature of an App from its future, and we sign a minute back.
# Slack's signatures are good for five minutes.
# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
_TOO_FAR_APART_S: Final = 60.0
_FAR_APART_S: Final = 20.0
_FIX_CLOCK: Final = "let NTP set the clock: timedatectl set-ntp true"


def check_clock(context: CheckContext) -> CheckResult:
    asked_at = context.clock.now()
    theirs = fetch_server_time(make_github_connection(context.settings.github), context.clock)
    if theirs is None:
        return skipped("GitHub does not tell what time it is")
    ours = asked_at + (context.clock.now() - asked_at) / 2
    return judge_clock(ours, theirs)


def judge_clock(ours: datetime, theirs: datetime) -> CheckResult:
    """Compare the two; theirs is in whole seconds, and so some of it is no matter."""
    apart_s = (ours - theirs).total_seconds()
    way = "ahead of" if apart_s > 0 else "behind"
    words = f"{abs(apart_s):.0f} s {way} GitHub's clock"
    if abs(apart_s) >= _TOO_FAR_APART_S:
        return failed(f"{words}: signatures are refused", _FIX_CLOCK)
    return warning(words, _FIX_CLOCK) if abs(apart_s) >= _FAR_APART_S else ok("as GitHub's clock")
