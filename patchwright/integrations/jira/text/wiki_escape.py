"""Write words and code so that wiki markup shows them as they are, and calls nobody."""

import re
from typing import Final

# A backslash takes the meaning from some signs, but not from all:
# https://docs.atlassian.com/atlassian-renderer/5.0/apidocs/com/atlassian/renderer/v2/components/BackslashEscapeRendererComponent.html
# Entities stay what they are:
# https://docs.atlassian.com/atlassian-renderer/5.0/apidocs/com/atlassian/renderer/v2/components/HtmlEscaper.html
# Between letters, and some between blanks, a sign means nothing: `snake_case`, `a - b`.
_MARKUP: Final = re.compile(
    r"""
    (?P<entity>
        [\\|]
      | &(?=\#?\w{1,31};)
      | [:;](?=-?[()DPp])              # a smiley
    )
    | [{}\[\]~^]
    | (?<=\[)@
    | (?<![A-Za-z0-9\s])[*_+-] | [*_+-](?![A-Za-z0-9\s])
    | (?<=\s)[*_+-](?!\s) | (?<!\s)[*_+-](?=\s)
    | (?<=\?)\? | \?(?=\?)
    | !(?!\s)
    | \((?=(?:[yni!/x+?*-]|\*[rgby]|on|off|flag|flagoff)\))
    """,
    re.VERBOSE,
)
_STARTS_A_BLOCK: Final = re.compile(r"\A(?:(?P<word>h[1-6]|bq)\.|#)")
_SIGN_IN_CODE: Final = re.compile(
    r"[!&()?@\[\\\]^{|}~#]|(?<![A-Za-z0-9])[*_+-]|[*_+-](?![A-Za-z0-9])"
    r"|[:;](?=-?[DPp])|:(?=//)|(?<=mailto):|\A | \Z"
)
# Whom Jira tells about a text it finds in the source, be it code or not: links that
# begin with one of these signs. No name has a blank of no width in it.
_CALL_IN_CODE: Final = re.compile(r"\[(?=[~@])")
_NOFORMAT_IN_CODE: Final = re.compile(r"\{(?=noformat\b)")
_NO_NAME: Final = re.compile(r"[\\,|\[\]{}\r\n]")
_NO_WIDTH: Final = "\u200b"
_NO_TITLE: Final = re.compile(r"[{}|\[\]\\=\s]+")
# Others are shown with an error, says Jira's editor:
# https://app.unpkg.com/@atlaskit/editor-wikimarkup-transformer@11.20.13/files/dist/es2019/encoder/nodes/code-block.js
_LANGUAGES: Final = frozenset(
    {
        *("actionscript", "ada", "applescript", "bash", "c", "c#", "c++", "cpp"),
        *("css", "erlang", "go", "groovy", "haskell", "html", "java", "javascript"),
        *("js", "json", "lua", "objc", "perl", "php", "python", "r", "ruby", "scala"),
        *("sh", "sql", "swift", "visualbasic", "xml", "yaml"),
    }
)


def escape_words(text: str, *, starts_line: bool) -> str:
    escaped = _MARKUP.sub(_escaped, text)
    return _STARTS_A_BLOCK.sub(_unstarted, escaped) if starts_line else escaped


def inline_code(text: str) -> str:
    """Return code in a line: markup is read in there too, and no backslash helps."""
    return f"{{{{{_SIGN_IN_CODE.sub(_entity, text)}}}}}"


def code_block(text: str, language: str) -> str:
    """Return lines of code; only what would call somebody, or end them, is broken."""
    text = _CALL_IN_CODE.sub(f"[{_NO_WIDTH}", text)
    if language.lower() in _LANGUAGES and "{code" not in text:
        return f"{{code:{language.lower()}}}\n{text}\n{{code}}"
    text = _NOFORMAT_IN_CODE.sub(f"{{{_NO_WIDTH}", text)
    return f"{{noformat}}\n{text}\n{{noformat}}"


def mention(person_id: str, name: str) -> str:
    """Return a mention, or the name alone if there can be no such user."""
    if not person_id or _NO_NAME.search(person_id):
        return escape_words(f"@{name}", starts_line=False)
    return f"[~{person_id}]"


def panel_title(text: str) -> str:
    """Return words as the title of a panel, in which nothing can be escaped."""
    return _NO_TITLE.sub(" ", text).strip()


def _escaped(sign: re.Match[str]) -> str:
    return _entity(sign) if sign["entity"] else f"\\{sign[0]}"


def _entity(sign: re.Match[str]) -> str:
    return f"&#{ord(sign[0])};"


def _unstarted(start: re.Match[str]) -> str:
    return f"{start['word']}&#46;" if start["word"] else f"\\{start[0]}"
