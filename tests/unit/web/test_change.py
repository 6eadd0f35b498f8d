"""A diff on a page: its files, the numbers of its lines, its syntax."""

from patchwright.workers.web.run_page.change import (
    DiffLineKind,
    ShownFile,
    read_change,
    read_file_change,
)

DIFF = """\
diff --git a/cart.py b/cart.py
index 1111111..2222222 100644
--- a/cart.py
+++ b/cart.py
@@ -1,3 +1,3 @@
 def total(prices):
-    return sum(prices)
+    return 2 * sum(prices)  # "<b>"
 # end
@@ -10,2 +10,3 @@ class Cart:
     pass
+    -- x
\\ No newline at end of file
diff --git a/old.bin b/new name.bin
similarity index 100%
rename from old.bin
rename to new name.bin
diff --git a/README b/README
deleted file mode 100644
--- a/README
+++ /dev/null
@@ -1 +0,0 @@
-<script>alert(1)</script>
"""


def rows(file: ShownFile) -> list[tuple[DiffLineKind, int | None, int | None, str]]:
    return [
        (line.kind, line.old, line.new, line.html)
        for hunk in file.hunks
        for line in hunk.lines
    ]


def test_the_files_of_a_diff() -> None:
    files = read_change(DIFF)
    assert [(one.name, one.added, one.removed, one.notes) for one in files] == [
        ("cart.py", 2, 1, ()),
        (
            "new name.bin",
            0,
            0,
            ("similarity index 100%", "rename from old.bin", "rename to new name.bin"),
        ),
        ("README", 0, 1, ("deleted file",)),
    ]
    assert [hunk.heading for hunk in files[0].hunks] == ["", "class Cart:"]


def test_lines_have_their_numbers_and_their_syntax() -> None:
    cart, _, readme = read_change(DIFF)
    assert rows(cart) == [
        (
            "same",
            1,
            1,
            '<span class="s-k">def</span> <span class="s-f">total</span>(prices):',
        ),
        (
            "removed",
            2,
            None,
            '    <span class="s-k">return</span> <span class="s-b">sum</span>(prices)',
        ),
        (
            "added",
            None,
            2,
            (
                '    <span class="s-k">return</span> <span class="s-n">2</span> * '
                '<span class="s-b">sum</span>(prices)  '
                '<span class="s-c"># &#34;&lt;b&gt;&#34;</span>'
            ),
        ),
        ("same", 3, 3, '<span class="s-c"># end</span>'),
        ("same", 10, 10, '    <span class="s-k">pass</span>'),
        ("added", None, 11, "    -- x"),
        ("note", None, None, "\\ No newline at end of file"),
    ]
    assert rows(readme) == [
        ("removed", 1, None, "&lt;script&gt;alert(1)&lt;/script&gt;")
    ]


def test_side_by_side_a_change_stands_beside_what_it_replaces() -> None:
    lines = ["@@ -1,4 +1,3 @@", " a", "-b", "-c", "+d", " e"]
    [hunk] = read_file_change("\n".join(lines), "x.txt").hunks
    assert [
        (left and left.html, right and right.html) for left, right in hunk.pairs()
    ] == [("a", "a"), ("b", "d"), ("c", None), ("e", "e")]


def test_a_line_is_shown_as_it_is_where_a_lexer_would_split_it() -> None:
    lines = ["@@ -1 +1 @@", "+x = 1\r# not a line of its own", "+\ufeffy = 2", "+z = 3"]
    file = read_file_change("\n".join(lines), "x.py")
    assert [html for *_, html in rows(file)] == [
        "x = 1\r# not a line of its own",
        "\ufeffy = 2",
        "z = 3",
    ]


def test_what_is_long_is_not_lexed() -> None:
    long = f"+{'x = 1;' * 100}"
    file = read_file_change(f"@@ -0,0 +1 @@\n{long}", "x.py")
    assert "<span" not in rows(file)[0][3]
    huge = "\n".join(["@@ -0,0 +1,9000 @@", *["+x = 1 + 2 + 3"] * 9000])
    assert "<span" not in rows(read_file_change(huge, "x.py"))[0][3]
