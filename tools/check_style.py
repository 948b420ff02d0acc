#!/usr/bin/env python3
"""Measures sizes, names, includes and folders of the C++ sources against the style of the project.

  tools/check_style.py                  every source under include/ src/ bindings/ tests/ bench/ examples/
  tools/check_style.py src/base/a.cpp   these files only
  tools/check_style.py --report         and how sizes are distributed

Prints one line per violation, "file:line: what (found, cap)", and ends with 1 if there is any.
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from style.folders import CAP, check_folders, check_rooms, units_by_folder  # noqa: E402
from style.rules import CAPS, Violation, check  # noqa: E402
from style.settings import options_in_scripts, unknown_settings  # noqa: E402

FOLDERS = ("include", "src", "bindings", "tests", "bench", "examples")
ENDINGS = {".h", ".cpp", ".hpp", ".hh", ".hxx", ".cc", ".cxx", ".c"}


def sources(root, names):
    """Paths from the root, sorted."""
    if names:
        return sorted(Path(name).resolve().relative_to(root).as_posix() for name in names)
    found = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    return sorted(path.relative_to(root).as_posix() for path in found
                  if path.suffix in ENDINGS and path.is_file())


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def print_largest(what, rows, cap):
    sizes = [size for size, _ in rows]
    print(f"{what}: {len(rows)}, median {percentile(sizes, 0.5)}, "
          f"90 % at most {percentile(sizes, 0.9)}, largest {max(sizes, default=0)}, cap {cap}")
    for size, place in sorted(rows, key=lambda row: (-row[0], row[1]))[:10]:
        print(f"  {size:5d}  {place}")


def report(files):
    bodies = [(f, file) for file in files for f in file.source.functions
              if f.kind not in ("declaration", "macro")]
    print_largest("lines of functions", [(f.last - f.first + 1, f"{file.path}:{f.first} {f.name}")
                                         for f, file in bodies], CAPS["function"])
    for kind, is_header in (("header", True), ("file", False)):
        print_largest(f"lines of {kind}s", [(len(file.lines), file.path) for file in files
                                            if file.is_header == is_header], CAPS[kind])
    for what in ("parameters", "nesting"):
        print_largest(what, [(getattr(f, what), f"{file.path}:{f.first} {f.name}")
                             for f, file in bodies], CAPS[what])
    print_largest("files of folders", [(count, folder) for folder, count in units_by_folder(
        file.path for file in files).items()], CAP)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--report", action="store_true", help="print how sizes are distributed")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent,
                        help="the folder that holds src/ (default: this project)")
    options = parser.parse_args()
    root = options.root.resolve()
    violations, files = [], []
    for path in sources(root, options.files):
        found, file = check(path, (root / path).read_text(encoding="utf-8", errors="replace"))
        violations += found
        files.append(file)
    if not options.files:
        violations += check_folders(file.path for file in files)
        violations += check_rooms(files)
    if (table := root / "src/cli/options.table").exists():
        violations += [Violation(path, line, f"no option is called ⟨{name}⟩")
                       for path, line, name in unknown_settings(files, table.read_text("utf-8"))]
    violations += [Violation(path, line, f"'{name}': below cli a text names the setting in ⟨ ⟩")
                   for path, line, name in options_in_scripts(root)]
    for violation in violations:
        print(violation)
    if options.report:
        report(files)
    print(f"{len(files)} files, {len(violations)} violations", file=sys.stderr)
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main())
