#!/usr/bin/env python3
"""Draws docs/images/speed.svg: the table of 23 networks with AMX in docs/evidence/comparison.md, as bars.

  tools/speed_picture.py            writes the picture
"""
import re
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/evidence/comparison.md"
PICTURE = ROOT / "docs/images/speed.svg"
HEADING = "### 23 networks in float32, with AMX"
LEFT, TOP, ROW, UNIT, WIDTH = 240, 64, 19, 150, 860  # UNIT: pixels for one time the speed
PEERS = (("ONNX Runtime", "#2b6cb0"), ("OpenVINO", "#dd8a2e"))


def rows(page):
    """(network, ratio to each peer) of the table below the heading."""
    section = page.split(HEADING, 1)[1].split("\n### ", 1)[0]
    found = re.findall(r"^\| ([\w., ]+?) \|[^|]*\| ([\d.]+)[^|]*\| ([\d.]+)", section, re.M)
    return [(name, float(first), float(second)) for name, first, second in found]


def text(x, y, words, more=""):
    return f'<text xml:space="preserve" x="{x:.0f}" y="{y:.0f}"{more}>{escape(words)}</text>'


def row(number, name, ratios):
    y = TOP + ROW * number
    bold = ' font-weight="bold"' if name == "geometric mean" else ""
    yield text(LEFT - 10, y + 13, name, f' text-anchor="end"{bold}')
    for part, (ratio, (_, colour)) in enumerate(zip(ratios, PEERS)):
        yield (f'<rect x="{LEFT}" y="{y + 2 + 7 * part}" width="{ratio * UNIT:.1f}" height="7" '
               f'fill="{colour}"/>')
    yield text(LEFT + max(ratios) * UNIT + 8, y + 13, f"{ratios[0]:.2f}, {ratios[1]:.2f}", bold)


def draw(page):
    networks = rows(page)
    height = TOP + ROW * len(networks) + 16
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" '
             'font-size="12" fill="#222">', '<rect width="100%" height="100%" fill="#ffffff"/>',
             text(16, 26, "Frames per second of Millrace, compared with other programs at their best",
                  ' font-size="16" font-weight="bold"'),
             text(16, 48, "float32, two cores of an Intel Xeon with AMX; 1 is equally fast")]
    for number, (name, colour) in enumerate(PEERS):
        x = 520 + 130 * number
        lines += [f'<rect x="{x}" y="39" width="12" height="10" fill="{colour}"/>',
                  text(x + 18, 48, name)]
    for number, (name, *ratios) in enumerate(networks):
        lines += row(number, name, ratios)
    x = LEFT + UNIT
    lines += [f'<line x1="{x}" y1="{TOP - 2}" x2="{x}" y2="{height - 12}" stroke="#222"/>', "</svg>"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(PAGE.read_text("utf-8")), "utf-8")
