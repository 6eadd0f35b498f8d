"""How Sphinx builds these pages: `make docs`."""

project = "Patchwright"
extensions = ["myst_parser"]
root_doc = "contents"
# The decisions have a page that lists them.
suppress_warnings = ["toc.not_included"]
exclude_patterns = ["man", "examples"]
# Links may lead to headings of these levels, by the names that GitHub gives them.
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Patchwright"
# The foot of each page says no more than it has to.
html_show_sphinx = False
html_show_copyright = False
