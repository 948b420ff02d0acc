#!/usr/bin/env python3
"""Draws the pictures of docs/concepts.md: who works on which frame, over time.

  tools/concept_pictures.py docs/images
"""
import sys
from pathlib import Path

COLOURS = ("#7fb3d5", "#f5b87a", "#8fcf9f", "#d7a6d9", "#e7dc83", "#a8b8c8")
LEFT, TOP, ROW, MS, END = 90, 34, 34, 11, 60  # pixels; of a row, of a millisecond; the last time

# Of each picture the title and the rows: a name, and "begin-end frame text" of each bar.
PICTURES = {
    "sequential": ("one core: a result every 20 ms", {
        "core0": "0-20 0 frame 0, 20-40 1 frame 1, 40-60 2 frame 2",
        "core1": ""}),
    "pipeline": ("two stages: a result every 11 ms", {
        "core0": "0-9 0 frame 0, 9-18 1 frame 1, 20-29 2 frame 2, 31-40 3 frame 3, 42-51 4 frame 4",
        "core1": "9-20 0 frame 0, 20-31 1 frame 1, 31-42 2 frame 2, 42-53 3 frame 3"}),
    "replicas": ("two replicas: a result every 10 ms, on average", {
        "core0": "0-20 0 frame 0, 20-40 2 frame 2, 40-60 4 frame 4",
        "core1": "0-20 1 frame 1, 20-40 3 frame 3, 40-60 5 frame 5"}),
    "batch": ("two stages, fc works on two frames at once: a result every 9 ms, on average", {
        "core0": "0-9 0 frame 0, 9-18 1 frame 1, 18-27 2 frame 2, 27-36 3 frame 3, 36-45 4 frame 4,"
                 "45-54 0 frame 5",
        "core1": "9-15 0 conv3 0, 18-24 1 conv3 1, 24-30 5 fc 0+1, 30-36 2 conv3 2, 36-42 3 conv3 3,"
                 "42-48 5 fc 2+3, 48-54 4 conv3 4, 54-60 0 conv3 5"}),
    "same_frame": ("all phases on the same frame: a result every 15 ms", {
        "core0": "0-5 0 a 0, 10-15 0 c 0, 15-20 1 a 1, 25-30 1 c 1, 30-35 2 a 2, 40-45 2 c 2,"
                 "45-50 3 a 3, 55-60 3 c 3",
        "core1": "5-10 0 b 0, 15-20 0 d 0, 20-25 1 b 1, 30-35 1 d 1, 35-40 2 b 2, 45-50 2 d 2,"
                 "50-55 3 b 3"}),
    "offset": ("phases with offsets: a result every 10 ms", {
        "core0": "0-5 0 a 0, 5-10 1 a 1, 10-15 2 a 2, 15-20 0 c 0, 20-25 3 a 3, 25-30 1 c 1,"
                 "30-35 4 a 4, 35-40 2 c 2, 40-45 0 a 5, 45-50 3 c 3, 50-55 1 a 6, 55-60 4 c 4",
        "core1": "5-10 0 b 0, 10-15 1 b 1, 15-20 2 b 2, 20-25 0 d 0, 25-30 3 b 3, 30-35 1 d 1,"
                 "35-40 4 b 4, 40-45 2 d 2, 45-50 0 b 5, 50-55 3 d 3, 55-60 1 b 6"}),
}


def bars_of(row):
    for bar in filter(None, (text.strip() for text in row.split(","))):
        times, frame, text = bar.split(" ", 2)
        begin, end = map(int, times.split("-"))
        yield begin, end, int(frame), text


def drawn(title, rows):
    width, height = LEFT + END * MS + 20, TOP + len(rows) * ROW + 26
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="DejaVu Sans, sans-serif" font-size="12">')
    yield '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>'
    yield f'<text x="12" y="22" font-size="14" font-weight="bold">{title}</text>'
    for time in range(0, END + 1, 10):
        x = LEFT + time * MS
        yield (f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{height - 20}" stroke="#dddddd"/>'
               f'<text x="{x}" y="{height - 6}" text-anchor="middle" fill="#666666">{time} ms</text>')
    for number, (name, row) in enumerate(rows.items()):
        y = TOP + number * ROW + 4
        yield f'<text x="12" y="{y + 18}">{name}</text>'
        for begin, end, frame, text in bars_of(row):
            x = LEFT + begin * MS
            yield (f'<rect x="{x}" y="{y}" width="{(end - begin) * MS}" height="{ROW - 8}" rx="3" '
                   f'fill="{COLOURS[frame % len(COLOURS)]}" stroke="#445566"/>'
                   f'<text x="{x + (end - begin) * MS / 2}" y="{y + 17}" '
                   f'text-anchor="middle">{text}</text>')
    yield "</svg>"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, (title, rows) in PICTURES.items():
        text = "\n".join(drawn(title, rows)) + "\n"
        (Path(sys.argv[1]) / f"concept_{name}.svg").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
