"""Pages are opened from inside the sandbox, and read as text."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from patchwright.core.events.actions import Browse
from patchwright.core.events.observations import BrowserOutput, ErrorObservation
from patchwright.core.runtime import Runtime, RuntimeFactory
from tests.adapters.sandbox.box import IDS, Box
from tests.adapters.sandbox.conftest import SPEC

HOME = """<!doctype html><html><head><title> A  shop </title>
<style>p { color: red }</style><script>alert("no")</script></head>
<body><h1>Goods</h1><p>We sell <b>nuts</b>,\n see <a href="list.html">the list</a>.</p>
<ul><li>one</li><li>two</li></ul><p hidden>not shown</p></body></html>"""
HOME_TEXT = """# Goods

We sell nuts, see the list ({site}/list.html).

- one
- two"""

# A site with every answer that matters, by path.
SITE = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {
    "/": (200, {"Content-Type": "text/html; charset=utf-8"}, HOME.encode()),
    "/moved": (302, {"Location": "/"}, b""),
    "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    "/gone": (404, {"Content-Type": "text/html"}, b"<h1>Gone</h1>"),
    "/latin": (200, {"Content-Type": "text/html; charset=latin-1"}, b"<p>caf\\xe9"),
    "/odd": (200, {"Content-Type": "text/plain; charset=klingon"}, b"words"),
    "/data": (200, {"Content-Type": "application/json"}, b'{"a": [1, 2]}'),
    "/image": (200, {"Content-Type": "image/png"}, b"\\x89PNG\\0"),
    "/bare": (200, {}, b"just words"),
    "/long": (200, {"Content-Type": "text/plain"}, b"x" * 5_000_000),
    "/packed": (200, {"Content-Type": "text/html", "Content-Encoding": "br"}, b"?"),
}


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(60)
        if self.path == "/loop":
            self.reply(302, {"Location": "/loop"}, b"")
        elif self.path.startswith("/caf"):
            self.reply(200, {"Content-Type": "text/plain"}, self.path.encode())
        else:
            self.reply(*PAGES.get(self.path, (404, {}, b"nothing here")))

    def reply(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def browsing_runtime(factory: RuntimeFactory) -> Iterator[Runtime]:
    """Start a sandbox of its own: connections leave traces in the table of ports."""
    runtime = factory.start(SPEC.replace(run_id=IDS.new()))
    yield runtime
    runtime.close()


@pytest.fixture
def box(browsing_runtime: Runtime) -> Box:
    return Box(browsing_runtime)


@pytest.fixture(scope="module")
def site(browsing_runtime: Runtime) -> str:
    """Serve the site within the sandbox; return its address."""
    box = Box(browsing_runtime)
    program = f"HOME = {HOME!r}\n{SITE}"
    browsing_runtime.upload("/workspace/site/site.py", program.encode())
    folder = "$WORKSPACE/site"
    started = box.sh(
        f"cd {folder}; python3 site.py >port & until [ -s port ]; do sleep 0.02; done;"
        " cat port"
    )
    return f"http://127.0.0.1:{started.output.strip()}"


def browse(box: Box, url: str, timeout_s: float | None = None) -> BrowserOutput:
    output = box.do(Browse(url=url, timeout_s=timeout_s))
    assert isinstance(output, BrowserOutput), output
    return output


def test_a_page_becomes_text(box: Box, site: str) -> None:
    page = browse(box, f"{site}/")
    assert (page.status, page.title, page.truncated) == (200, "A shop", False)
    assert page.text == HOME_TEXT.format(site=site)


def test_pythons_own_server_can_be_read(box: Box) -> None:
    box.put("notes.txt", b"some notes\n")
    box.sh(
        f"cd /workspace/repo/{box.folder}; python3 -u -m http.server 8123"
        " --bind 127.0.0.1 >/tmp/served 2>&1 &"
    )
    box.sh("until grep -q Serving /tmp/served; do sleep 0.02; done")
    page = browse(box, "http://127.0.0.1:8123/")
    assert "- notes.txt (http://127.0.0.1:8123/notes.txt)" in page.text
    assert browse(box, "http://127.0.0.1:8123/notes.txt").text == "some notes\n"
    box.sh("kill %1")


def test_redirects_are_followed_and_where_they_led_is_told(box: Box, site: str) -> None:
    assert browse(box, f"{site}/moved").url == f"{site}/"


def test_a_page_of_any_status_is_a_page(box: Box, site: str) -> None:
    gone = browse(box, f"{site}/gone")
    assert (gone.status, gone.text) == (404, "# Gone")


def test_text_is_decoded_as_it_says_or_as_well_as_can_be(box: Box, site: str) -> None:
    assert browse(box, f"{site}/latin").text == "café"
    assert browse(box, f"{site}/odd").text == "words"


def test_an_address_may_be_written_as_people_do(box: Box, site: str) -> None:
    assert browse(box, f"{site}/café?q=a b#part").text == "/caf%C3%A9?q=a%20b"


def test_other_text_is_passed_on_as_it_is(box: Box, site: str) -> None:
    assert browse(box, f"{site}/data").text == '{"a": [1, 2]}'
    assert browse(box, f"{site}/bare").text == "just words"


@pytest.mark.parametrize(
    ("path", "named"), [("image", "is image/png"), ("packed", "is packed")]
)
def test_what_is_not_text_is_refused_by_name(
    box: Box, site: str, path: str, named: str
) -> None:
    refused = box.refusal(Browse(url=f"{site}/{path}"))
    assert refused.reason == "binary"
    assert named in refused.text


def test_a_long_page_is_cut(box: Box, site: str) -> None:
    page = browse(box, f"{site}/long")
    assert (len(page.text), page.truncated) == (40_000, True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/y", "etc/passwd", ""])
def test_only_http_is_spoken(box: Box, url: str) -> None:
    refused = box.refusal(Browse(url=url))
    assert "only http:// and https:// addresses" in refused.text


@pytest.mark.parametrize("path", ["file", "loop"])
def test_a_redirect_that_leads_nowhere_is_an_error(
    box: Box, site: str, path: str
) -> None:
    refused = box.do(Browse(url=f"{site}/{path}"))
    assert "root:" not in refused.model_dump_json()
    assert isinstance(refused, ErrorObservation)
    assert refused.reason == "unreachable"


def test_a_page_that_does_not_come_is_not_waited_for(box: Box, site: str) -> None:
    refused = box.refusal(Browse(url=f"{site}/slow", timeout_s=0.5))
    assert refused.text in (
        f"{site}/slow did not answer within 0.5 s",
        f"{site}/slow cannot be opened: timed out.",
    )


def test_a_cancelled_page_returns_at_once(box: Box, site: str) -> None:
    action_id = IDS.new()
    with ThreadPoolExecutor(1) as pool:
        action = Browse(url=f"{site}/slow", timeout_s=20)
        waiting = pool.submit(box.runtime.run, action, action_id)
        box.sh("sleep 0.3")
        began = time.monotonic()
        box.runtime.cancel(action_id)
        result = waiting.result(10)
    assert time.monotonic() - began < 0.5
    assert isinstance(result, ErrorObservation)
    assert result.reason == "called-off"


def test_without_a_network_the_error_says_what_to_do(box: Box) -> None:
    for url in ("http://192.0.2.1/", "http://example.com/"):
        refused = box.refusal(Browse(url=url))
        assert refused.reason == "unreachable"
        assert "This sandbox has no network" in refused.text
    closed = box.refusal(Browse(url="http://127.0.0.1:9/"))
    assert "Connection refused" in closed.text
