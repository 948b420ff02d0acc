#!/usr/bin/env python3
"""Draws what a command printed as a picture for the documentation.

  build/release/bin/millrace bench resnet18.plan.json | tools/terminal_svg.py 'millrace bench resnet18.plan.json' > bench.svg

The text is taken as it is; the command is shown above it.
"""
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 8.43, 18, 16  # of a character and a line at 14 px, and around the text


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    lines = ([f"$ {command}", ""] if command else []) + sys.stdin.read().rstrip("\n").split("\n")
    width = max(map(len, lines)) * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
          f'viewBox="0 0 {width:.0f} {height}">')
    print('<rect width="100%" height="100%" rx="8" fill="#16202c"/>')
    print('<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
          'fill="#d7dfe8">')
    for number, line in enumerate(lines):
        y = MARGIN + HEIGHT * (number + 0.75)
        colour = ' fill="#7fd1a8"' if line.startswith(("$", "plan ")) else ""
        # Lengths are given so that columns stay in line whatever font the reader has.
        length = f' textLength="{len(line) * WIDTH:.1f}"' if line else ""
        print(f'<text xml:space="preserve" x="{MARGIN}" y="{y:.1f}"{length}{colour}>{escape(line)}</text>')
    print("</g>\n</svg>")


if __name__ == "__main__":
    main()
