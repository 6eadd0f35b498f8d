"""A real Chromium, its windows, and what a window shows that keeps people out."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.provision.components import find_chromium
from tests.provision.errors import ProvisionError

Colours = Literal["dark", "light"]

# A wide window, and a phone's.
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 400, "height": 800}
PATIENCE_MS = 30_000
SERIOUS = ("serious", "critical")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_IS_TOO_WIDE = """() => {
    const root = document.documentElement;
    return root.scrollWidth > root.clientWidth;
}"""


@contextmanager
def chromium(*more: str) -> Iterator[Browser]:
    """Run the system's Chromium until the block is left; `more` are arguments."""
    program = find_chromium()
    if program is None:
        raise ProvisionError("There is no Chromium; make test-web installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[*ARGUMENTS, *more]
        )
        with closing(browser):
            yield browser


@contextmanager
def window(
    browser: Browser,
    size: ViewportSize = DESK,
    colours: Colours = "light",
    *,
    scripts: bool = True,
) -> Iterator[Page]:
    """Yield a page with cookies of its own. What goes wrong in a script fails here."""
    context = browser.new_context(
        viewport=size, color_scheme=colours, java_script_enabled=scripts
    )
    context.set_default_timeout(PATIENCE_MS)
    problems: list[str] = []
    with closing(context):
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        try:
            yield page
        except Exception as error:
            error.add_note(f"The page {page.url}:\n{page.inner_text('body')[:2000]}")
            raise
        assert problems == []


def find_barriers(page: Page) -> list[str]:
    """Return what axe calls serious or worse there: the rule, and where, one a line."""
    # All that is in order would be sent too, and there is much more of that.
    wanted = {"resultTypes": ["violations"]}
    found = Axe().run(page, options=wanted).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def is_too_wide(page: Page) -> bool:
    """Tell whether the page must be moved sideways to be read."""
    return bool(page.evaluate(_IS_TOO_WIDE))
