"""Take the pictures of the pages in docs/: `python -m tests.web.pictures docs/images`.

A month of runs is told on a clock that is moved; the newest of them wait.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize

from patchwright.resolver.services import RunOverrides
from patchwright.workers.compose import ServiceParts, make_worker
from patchwright.workers.jobs.worker import JobWorker
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.github.webhooks.sending import deliver
from tests.fakes.llm.turns import Script, TurnLike, call, status, with_usage
from tests.flow.clock import MovableClock
from tests.flow.runs import work
from tests.flow.script import Request, asked
from tests.flow.serving import serving
from tests.flow.story import APP_ID, FILES, REPO, let_sign_in
from tests.provision.servers import free_port
from tests.schema import add_sqlite_file
from tests.service.stage import Stage, staged
from tests.web.chromium import Colours, chromium, window
from tests.web.scene import ADMIN_TOKEN
from tests.web.showroom import DONE, PRICES, WAITING, fix, question

NOW = datetime(2026, 3, 31, 15, 20, tzinfo=UTC)
SITE = "acme/site"
PLAN = "Totals of very long carts"
MODEL = "openai/qwen3-coder"
MOST_BYTES = 120_000
_PLAN = (
    "1. Measure `total` with 100,000 prices, and keep the measurement as a test.\n"
    "2. Add up in one pass, without the list in between.\n"
    "3. Run all tests again."
)


@dataclass(frozen=True)
class Told:
    """A run of that month: how long before its end, who asks for what, its size."""

    ago: timedelta
    login: str
    title: str
    repository: str = REPO
    thousand_tokens: int = 20


def _days(days: float) -> timedelta:
    return timedelta(days=days)


MONTH = (
    Told(_days(27.1), "bob", "An empty cart has a total", thousand_tokens=31),
    Told(_days(24.2), "alice", "Prices with three digits", SITE, 12),
    Told(_days(21.3), "alice", "A cart may hold nothing", thousand_tokens=48),
    Told(_days(17.2), "bob", "Pieces that are not whole", thousand_tokens=26),
    Told(_days(16.9), "carol", "The page of prices has no title", SITE, 9),
    Told(_days(13.1), "bob", "A total is never below zero", thousand_tokens=64),
    Told(_days(9.3), "carol", "Round half a cent up", thousand_tokens=22),
    Told(_days(6.2), "alice", "More pieces than prices", thousand_tokens=41),
    Told(_days(3.1), "carol", "The footer names last year", SITE, 14),
    Told(_days(1.2), "bob", "Discounts of a hundred percent", thousand_tokens=37),
    Told(timedelta(hours=3), "alice", DONE, thousand_tokens=24),
    Told(timedelta(minutes=50), "carol", WAITING, thousand_tokens=8),
    Told(timedelta(minutes=20), "bob", PLAN, thousand_tokens=17),
)


def _script() -> Script:
    """Play each run as its title wants it, and bill the size of it."""
    playing: dict[str, Iterator[TurnLike]] = {}

    def answer(request: Request) -> TurnLike:
        told = asked(request)
        run = next(one for one in MONTH if one.title in told)
        turns = playing.setdefault(run.title, iter(_turns(run.title)))
        number = len(request["messages"])
        tokens = run.thousand_tokens * (200 + 10 * number)
        turn = next(turns, status(400))
        return with_usage(turn, prompt_tokens=tokens, completion_tokens=tokens // 30)

    return answer


def _turns(title: str) -> list[TurnLike]:
    if title == PLAN:
        return [
            call("shell", command="cat cart.py"),
            call("finish", summary="A plan.", answer=_PLAN),
        ]
    return question() if title == WAITING else fix()


@dataclass(frozen=True)
class Month:
    """The service as it is at the end of the month."""

    stage: Stage
    base: ServiceParts
    runner: JobWorker
    clock: MovableClock
    url: str

    def tell(self, run: Told) -> None:
        """Let somebody open an issue at that time, and the service do its work."""
        self.clock.advance((NOW - run.ago - self.clock.now()).total_seconds())
        word = "plan" if run.title == PLAN else "please fix"
        body = f"@patchwright {word} this: `total([450], [3])` is 450, and not 1350."
        github = self.stage.github
        github.open_issue(run.repository, run.login, run.title, body)
        url = f"{self.url}/api/integration/github/events"
        assert deliver(github.deliveries[-1], url).status == 202
        work(self.base, self.runner)

    def sign_in(self, page: Page) -> None:
        sit_down(self.stage.github.world, "alice")
        page.clock.set_fixed_time(NOW)
        page.goto(f"{self.url}/auth/github/login?next=/people")
        become = page.get_by_role("button", name="Become an admin")
        if become.count():
            page.get_by_label("Administrator's token").fill(ADMIN_TOKEN)
            become.click()
        page.get_by_role("heading", name="People").wait_for()


@contextmanager
def month(folder: Path) -> Iterator[Month]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    own = {
        **PRICES,
        "PATCHWRIGHT_SECURITY__ADMIN_TOKEN": ADMIN_TOKEN,
        "LLM_MODEL": MODEL,
    }
    with staged(folder, _script(), own) as stage:
        github = stage.github
        github.add_repository(SITE, files=FILES)
        for login in ("alice", "bob", "carol"):
            github.add_user(login)
            github.grant(REPO, login, "write")
            github.grant(SITE, login, "write")
        github.install_app(APP_ID, "acme", [REPO, SITE])
        environment = {**stage.environment, **let_sign_in(github, url)}
        add_sqlite_file(folder / "state" / "patchwright.db")
        clock = MovableClock()
        with serving(environment, folder, clock, port) as (base, _):
            told = Month(stage, base, make_worker(base, RunOverrides()), clock, url)
            for run in MONTH:
                told.tell(run)
            clock.advance((NOW - clock.now()).total_seconds())
            yield told


@dataclass(frozen=True)
class Picture:
    """A page by the link or path that leads there, and how much of it is shown."""

    name: str
    leads: str
    height: int
    width: int = 1120
    colours: Colours = "light"


PICTURES = (
    Picture("runs", "/runs", 662),
    Picture("run", DONE, 830),
    Picture("plan", PLAN, 645),
    Picture("spend", "/spend", 780),
    Picture("phone", WAITING, 800, width=400, colours="dark"),
)


def take(told: Month, browser: Browser, wanted: Picture, folder: Path) -> Path:
    size: ViewportSize = {"width": wanted.width, "height": wanted.height}
    with window(browser, size, wanted.colours) as page:
        told.sign_in(page)
        page.goto(f"{told.url}/runs")
        if wanted.leads.startswith("/"):
            page.goto(f"{told.url}{wanted.leads}")
        else:
            page.get_by_role("link", name=wanted.leads).click()
        page.wait_for_load_state("load")
        refuse_own_addresses(page)
        file = folder / f"{wanted.name}.png"
        page.screenshot(path=file)
    return file


def refuse_own_addresses(page: Page) -> None:
    """Refuse to publish where things are on this machine."""
    shown = page.inner_text("main")
    own = ["127.0.0.1", "localhost", str(Path.home())]
    if found := [one for one in own if one in shown]:
        raise ValueError(f"the page shows what is of this machine only: {found}")


def main(folder: Path) -> int:
    """Write all pictures; a big one slows down who reads the docs."""
    with (
        tempfile.TemporaryDirectory() as place,
        month(Path(place)) as told,
        # Letters with colored edges take twice the room.
        chromium("--disable-lcd-text") as browser,
    ):
        files = [take(told, browser, one, folder) for one in PICTURES]
    for file in files:
        size = file.stat().st_size
        sys.stdout.write(f"{file}: {size // 1000} kB\n")
    return int(any(file.stat().st_size > MOST_BYTES for file in files))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
