"""Markdown on the page of a run."""

import pytest

from patchwright.workers.web.run_page.prose import first_words, prose_html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("One\nline.  \nTwo.", "<p>One<br>line.<br>Two.</p>"),
        ("## A title", "<h4>A title</h4>"),
        ("*a* ~~b~~ <sub>c</sub>", "<p><em>a</em> <del>b</del> <small>c</small></p>"),
        (
            "1. one\n2. two\n\n   more",
            '<ol start="1"><li>one</li><li>two<p>more</p></li></ol>',
        ),
        (
            "- [x] done\n- [ ] open",
            (
                '<ul><li><input type="checkbox" disabled checked> done</li>'
                '<li><input type="checkbox" disabled> open</li></ul>'
            ),
        ),
        ("- ```\n  code\n  ```", "<ul><li><pre>code</pre></li></ul>"),
        ("```html\n<b>&\n```", "<pre>&lt;b&gt;&amp;</pre>"),
        ("> quoted", "<blockquote><p>quoted</p></blockquote>"),
        (
            "| a | b |\n|---|---|\n| `1` | 2 |",
            (
                '<div class="wide"><table><thead><tr><th>a</th><th>b</th></tr></thead>'
                "<tbody><tr><td><code>1</code></td><td>2</td></tr></tbody></table></div>"
            ),
        ),
        ("a\n\n---\n\nb", "<p>a</p>\n<hr>\n<p>b</p>"),
        (
            "<details><summary>More</summary>\n\nhidden\n\n</details>",
            "<details><summary>More</summary><p>hidden</p></details>",
        ),
    ],
)
def test_markdown_is_shown_as_what_it_means(markdown: str, html: str) -> None:
    assert prose_html(markdown) == html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("[fix](https://evil.test)", "<p>fix (<code>https://evil.test</code>)</p>"),
        ("<https://evil.test>", "<p><code>https://evil.test</code></p>"),
        ("![a cart](https://evil.test/x.png)", "<p>[picture: a cart]</p>"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("`<img src=x>`", "<p><code>&lt;img src=x&gt;</code></p>"),
        ("a <b onclick=x>c</b>", "onclick"),
    ],
)
def test_nothing_in_it_leads_or_runs_anywhere(markdown: str, html: str) -> None:
    shown = prose_html(markdown)
    assert html in shown or html == "onclick"
    for tag in ("<a ", "<img", "<script", "<b "):
        assert tag not in shown


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("\n## The `cause`\n\nMore.", "The cause"),
        ("- **one**\n- two", "one"),
        ("> [said](https://a.test)", "said"),
        ("```\ncode\n```", "```"),
        ("", ""),
    ],
)
def test_a_title_is_the_first_line_without_its_marks(markdown: str, words: str) -> None:
    assert first_words(markdown) == words
