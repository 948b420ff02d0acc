"""How many units a folder has: a header and its source are one. How many lines a room may have."""
from collections import defaultdict
from pathlib import PurePosixPath

from .rules import Violation

CAP = 25
ROOM_CAPS = {"cli": 4200, "product": 11550}  # lines: what is decided stands below product


def units_by_folder(paths):
    """The number of units of each folder under src and tests."""
    units = defaultdict(set)
    for path in map(PurePosixPath, paths):
        if path.parts[0] in ("src", "tests"):
            units[str(path.parent)].add(path.stem)
    return {folder: len(stems) for folder, stems in units.items()}


def check_folders(paths):
    return [Violation(folder, 1, f"folder is large (found {count} files, cap {CAP}; a header and "
                                 "its source are one)")
            for folder, count in sorted(units_by_folder(paths).items()) if count > CAP]


def check_rooms(files):
    lines = defaultdict(int)
    for file in files:
        parts = PurePosixPath(file.path).parts
        if parts[0] == "src" and len(parts) > 2:
            lines[parts[1]] += len(file.lines)
    return [Violation(f"src/{room}", 1, f"room is large (found {lines[room]} lines, cap {cap})")
            for room, cap in ROOM_CAPS.items() if lines[room] > cap]
