#!/usr/bin/env python3
"""Compiles files alone, without code: does each include what it uses?

  tools/compile_alone.py build/includes/compile_commands.json [--jobs N] [FILE...]

Without files, every source that the build compiles and every header beside one. A header is
compiled as a source of its folder is. Ends with 1 if any does not compile.
"""
import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def commands_of(database):
    """The compiler's words for each source, without its output."""
    commands = {}
    for entry in json.loads(database.read_text()):
        words = shlex.split(entry["command"])
        del words[words.index("-o"):words.index("-o") + 2]
        words = words[:words.index("-c")]
        commands[Path(entry["file"])] = words
    return commands


def command_for(path, commands):
    """Nothing for a header of which no source lies beside it or above."""
    if path in commands:
        return commands[path] + ["-fsyntax-only", str(path)]
    for folder in path.parents:
        for source, words in commands.items():
            if source.parent == folder:
                # A header alone is the main file, in which "#pragma once" says nothing.
                return words + ["-fsyntax-only", "-x", "c++", "-include", str(path), "/dev/null"]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    commands = commands_of(options.database)
    beside = {header for folder in {source.parent for source in commands}
              for header in folder.glob("*.h")}
    paths = [path.resolve() for path in options.files] or sorted(set(commands) | beside)

    def check(path):
        words = command_for(path, commands)
        if words is None:
            return True
        done = subprocess.run(words, capture_output=True, text=True)
        sys.stderr.write(done.stderr)
        return done.returncode == 0

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(check, paths))
    print(f"{len(results)} files, {results.count(False)} do not compile alone", file=sys.stderr)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
