"""What the steps of outputs.case need; see run_check.py."""

import os
import random
import sys
from pathlib import Path


def write_noise(folder, count, size):
    """One grey picture under many names: its copies and videos are as large as it, and slow."""
    width, pictures = int(size), Path(folder)
    pictures.mkdir()
    noise = random.Random(1).randbytes(width * width)
    Path(f"{folder}.pgm").write_bytes(b"P5 %d %d 255\n" % (width, width) + noise)
    for number in range(int(count)):
        os.symlink(os.path.abspath(f"{folder}.pgm"), pictures / f"{number:05}.pgm")


def whole_lines(file):
    """Every line has both its braces, and there is one."""
    lines = Path(file).read_text().splitlines(keepends=True)
    broken = [line for line in lines if not (line.startswith("{") and line.endswith("}\n"))]
    sys.exit(broken[0] if broken else 0 if lines else f"{file} is empty")
