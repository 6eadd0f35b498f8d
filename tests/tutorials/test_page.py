"""A page is read whole, or not at all."""

from pathlib import Path

import pytest

from tests.tutorials.following import PAGES, fill_in
from tests.tutorials.page import (
    ByHand,
    Commands,
    PageError,
    Shown,
    Step,
    Written,
    read_page,
)

WHOLE = """# Title

```sh
ls
```

```text
a.txt
```

1. <!-- terminal: service -->
   ```sh
   serve
   ```

Press the button. <!-- hands: press the button -->

<!-- file: x.toml -->
```toml
[one]
```
"""


def read(folder: Path, text: str) -> tuple[Step, ...]:
    file = folder / "page.md"
    file.write_text(text)
    return read_page(file)


def test_every_fence_and_every_mark_is_a_step(tmp_path: Path) -> None:
    assert read(tmp_path, WHOLE) == (
        Commands("ls", 3),
        Shown("a.txt", 7),
        Commands("serve", 12, "service"),
        ByHand("press the button", 16),
        Written("x.toml", "[one]", 19),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```toml\na = 1\n```", "line 1: nobody knows what to do with ```toml"),
        ("```\nls\n```", "line 1: nobody knows what to do with ```"),
        ("```sh\nls", "line 1: a fence is not closed"),
        ("<!-- tool: x -->\n```sh\nls\n```", "line 1: unknown mark tool: x"),
        ("<!-- file: x -->", "line 1: no fence follows file: x"),
        ("<!-- terminal: x -->\n```text\nls\n```", "line 1: unknown mark terminal: x"),
    ],
)
def test_what_nobody_could_follow_is_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(PageError, match="^" + problem):
        read(tmp_path, text)


def test_the_readers_own_values_are_filled_in() -> None:
    text = '[a.b]\nc = "sk-ant-…"\nd = "e"\ne = "…"'
    own = {"a.b.c": "x", "a.b.e": "y"}
    assert fill_in(text, own) == '[a.b]\nc = "x"\nd = "e"\ne = "y"'


def test_every_tutorial_is_followed() -> None:
    tests = Path(__file__).with_name("test_tutorials.py").read_text()
    pages = [page.stem for page in sorted(PAGES.glob("*.md"))]
    assert [page for page in pages if f'follow("{page}"' not in tests] == []
