"""An animated picture of a terminal, which any browser plays without a script.

All frames hang below one another like a film, which is pulled up frame by frame. A line
that several frames show is drawn once. Who asks for less motion sees the last frame.
"""

from collections.abc import Sequence
from html import escape
from typing import Final

from tests.recording.cast import Size
from tests.recording.frames import Frame, Look, Row, Span

CELL_W, CELL_H, FONT_PX = 8.4, 18, 14
MARGIN, BAR_H = 16, 34
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
GROUND, BORDER, PLAIN, DARK = "#161b22", "#444c56", "#d1d7e0", "#2d333b"
# Readable on a dark ground, and told apart by people who see few colours.
COLOURS: Final = {
    "default": PLAIN,
    "black": "#6e7681",
    "red": "#ff8a80",
    "green": "#6cd97e",
    "brown": "#e3b341",
    "blue": "#79b8ff",
    "magenta": "#d2a8ff",
    "cyan": "#6fdbe5",
    "white": "#f0f3f6",
    "brightblack": "#9198a1",
    "brightred": "#ffa198",
    "brightgreen": "#8ff0a4",
    "brightbrown": "#f2cc60",
    "brightblue": "#a5d6ff",
    "brightmagenta": "#e2c5ff",
    "brightcyan": "#a1ecf2",
    "brightwhite": "#ffffff",
}


def draw(frames: Sequence[Frame], size: Size, title: str) -> str:
    """Return the picture as SVG; `title` is for those who cannot see it."""
    inner_w, inner_h = size.columns * CELL_W, size.rows * CELL_H
    width, height = inner_w + 2 * MARGIN, inner_h + BAR_H + MARGIN
    names: dict[Row, str] = {}
    film = "".join(
        f'<svg y="{number * inner_h}">{_uses(frame, names)}</svg>'
        for number, frame in enumerate(frames)
    )
    lines = "".join(f'<g id="{name}">{_line(row)}</g>' for row, name in names.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title><style>{_style(frames, inner_h)}</style>"
        f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="8" '
        f'fill="{GROUND}" stroke="{BORDER}"/>'
        f"{_buttons()}<defs>{lines}</defs>"
        f'<svg x="{MARGIN}" y="{BAR_H}" width="{inner_w:g}" height="{inner_h}">'
        f'<g class="film" fill="{PLAIN}">{film}</g></svg></svg>\n'
    )


def _buttons() -> str:
    colours = ("#f47067", "#dbab09", "#57ab5a")
    return "".join(
        f'<circle cx="{MARGIN + 6 + 20 * number}" cy="18" r="6" fill="{colour}"/>'
        for number, colour in enumerate(colours)
    )


def _style(frames: Sequence[Frame], height: int) -> str:
    whole = sum(frame.seconds for frame in frames)
    passed, steps = 0.0, []
    for number, frame in enumerate(frames):
        steps.append(
            f"{passed / whole:.3%}{{transform:translateY({-number * height}px)}}"
        )
        passed += frame.seconds
    end = f"transform:translateY({-(len(frames) - 1) * height}px)"
    return (
        f"text{{font:{FONT_PX}px {FONTS};white-space:pre}}"
        f".b{{font-weight:bold}}.film{{{end};animation:play {whole:.1f}s infinite;"
        f"animation-timing-function:steps(1,end)}}"
        f"@keyframes play{{{''.join(steps)}100%{{{end}}}}}"
        "@media(prefers-reduced-motion:reduce){.film{animation:none}}"
    )


def _uses(frame: Frame, names: dict[Row, str]) -> str:
    placed = []
    for number, row in enumerate(frame.rows):
        if row:
            name = names.setdefault(row, f"l{len(names)}")
            placed.append(f'<use href="#{name}" y="{number * CELL_H}"/>')
    return "".join(placed)


def _line(row: Row) -> str:
    return "".join(map(_span, row))


def _span(span: Span) -> str:
    x, width = span.column * CELL_W, span.width * CELL_W
    ground = ""
    if span.look.ground != "default":
        fill = DARK if span.look.ground == "black" else _colour(span.look.ground)
        ground = f'<rect x="{x:.1f}" width="{width:.1f}" height="18" fill="{fill}"/>'
    bold = ' class="b"' if span.look.bold else ""
    # The length keeps columns in line whatever font the reader has.
    return (
        f'{ground}<text x="{x:.1f}" y="13" textLength="{width:.1f}"{bold}'
        f"{_fill(span.look)}>{escape(span.text, quote=False)}</text>"
    )


def _fill(look: Look) -> str:
    return "" if look.colour == "default" else f' fill="{_colour(look.colour)}"'


def _colour(name: str) -> str:
    return COLOURS.get(name, f"#{name}")
