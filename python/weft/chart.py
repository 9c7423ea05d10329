"""Bar charts as SVG, for notebooks and files; pandas is all they need."""

from __future__ import annotations

import os
from html import escape
from math import floor, log10
from pathlib import Path

import pandas

# Okabe and Ito's colours, which people who do not see all colours can tell apart.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 52, 36


class Chart:
    """A picture: shown by notebooks, `svg` as text, `save` as a file."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, file: str | os.PathLike[str]) -> None:
        Path(file).write_text(self.svg)


def bars(
    frame: pandas.DataFrame | pandas.Series, title: str = "", *, baseline: float | None = None
) -> Chart:
    """A group of bars per row, a colour per column; a Series is one column. Values are 0 or more; a
    missing one has no bar. `baseline` is a line across, such as 1 of speed-ups."""
    if isinstance(frame, pandas.Series):
        frame = frame.to_frame(str(frame.name or ""))
    if frame.empty:
        raise ValueError("nothing to draw: the frame has no values")
    if (frame < 0).any(axis=None):
        raise ValueError("values are 0 or more")
    most = max(float(frame.max().fillna(0).max()), baseline or 0.0) or 1.0
    step = _step(most)
    scale = (_HEIGHT - _TOP - _BOTTOM) / most
    across = _WIDTH - _LEFT - _RIGHT
    floor_y = _HEIGHT - _BOTTOM

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 18, title, "start", 14),
    ]
    for i in range(floor(most / step + 1e-9) + 1):
        y = floor_y - i * step * scale
        parts.append(_line(y, "#dddddd"))
        parts.append(_text(_LEFT - 6, y + 4, f"{i * step:g}", "end"))
    legend = float(_LEFT)
    for number, name in enumerate(frame.columns):
        parts.append(_box(legend, 28, 10, 10, COLOURS[number % len(COLOURS)]))
        parts.append(_text(legend + 14, 37, str(name), "start"))
        legend += 30 + 7 * len(str(name))
    group = across / len(frame)
    bar = 0.8 * group / len(frame.columns)
    for row, (label, values) in enumerate(frame.iterrows()):
        left = _LEFT + row * group
        parts.append(_text(left + group / 2, floor_y + 18, str(label), "middle"))
        for number, (name, value) in enumerate(values.items()):
            if pandas.isna(value):
                continue
            height = float(value) * scale
            x = left + 0.1 * group + number * bar
            colour = COLOURS[number % len(COLOURS)]
            tip = f"{label}, {name}: {float(value):.4g}"
            parts.append(_box(x, floor_y - height, 0.92 * bar, height, colour, tip))
    if baseline is not None:
        parts.append(_line(floor_y - baseline * scale, "#444444"))
    return Chart("\n".join([*parts, "</svg>"]))


def _step(most: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are at most six lines."""
    power = 10.0 ** floor(log10(most))
    return next(power * f for f in (0.1, 0.2, 0.5, 1.0, 2.0) if most / (power * f) <= 6)


def _text(x: float, y: float, text: str, anchor: str, size: int = 12) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f"<text {where}>{escape(text)}</text>"


def _line(y: float, colour: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"/>'
    )


def _box(x: float, y: float, width: float, height: float, colour: str, tip: str = "") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<rect {where} fill="{colour}">{inside}</rect>'
