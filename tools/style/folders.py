"""How many units a folder has: a header and its source are one."""
from collections import defaultdict
from pathlib import PurePosixPath

from .rules import Violation

CAP = 25


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
