#!/usr/bin/env python3
"""Whether what was built looks for its libraries in fixed folders only.

  run_paths.py BUILD_FOLDER

An empty or relative element of RPATH or RUNPATH is the folder in which the program is started, and
who puts a library there has his code run.
"""
import mmap
import struct
import sys
from pathlib import Path

PT_LOAD, PT_DYNAMIC = 1, 2
DT_STRTAB, DT_RPATH, DT_RUNPATH = 5, 15, 29
SKIPPED = {"package_test", "CMakeFiles", "_deps"}  # what other tests and CMake write to


def segments(image):
    offset, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for i in range(count):
        kind, _, place, address, _, length, _, _ = struct.unpack_from("<IIQQQQQQ", image,
                                                                     offset + i * size)
        yield kind, place, address, length


def run_paths(image):
    """The elements of all run paths of a 64-bit little-endian ELF file."""
    parts = list(segments(image))
    entries = [struct.unpack_from("<QQ", image, at)
               for kind, place, _, length in parts if kind == PT_DYNAMIC
               for at in range(place, place + length, 16)]
    table = next((value for tag, value in entries if tag == DT_STRTAB), None)
    for tag, value in entries:
        if tag not in (DT_RPATH, DT_RUNPATH):
            continue
        start = next(place + table + value - address for kind, place, address, length in parts
                     if kind == PT_LOAD and address <= table < address + length)
        yield from image[start:image.find(b"\0", start)].decode(errors="replace").split(":")


def is_fixed(element):
    return element.startswith("/") or element == "$ORIGIN" or element.startswith("$ORIGIN/")


def main():
    build, seen, wrong = Path(sys.argv[1]), 0, []
    for path in sorted(build.rglob("*")):
        inside = path.relative_to(build).parts
        if SKIPPED & set(inside) or path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if path.stat().st_size < 64 or file.read(6) != b"\x7fELF\x02\x01":
                continue
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
                if image[16] not in (2, 3):  # neither a program nor a library
                    continue
                seen += 1
                wrong += [f"{path}: run path element '{element}'" for element in run_paths(image)
                          if not is_fixed(element)]
    print("\n".join(wrong) or f"{seen} programs and libraries look in fixed folders only")
    return 1 if wrong or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
