#!/usr/bin/env python3
"""Runs one text case: commands with the exit code and the words expected.

  run_case.py FILE.case --millrace PATH --source PROJECT_FOLDER

A case is a list of steps, run by a shell in an empty folder of its own:

  # comment
  $ millrace zoo nonsense -o x.onnx     the command; `millrace` and $SOURCE are set
  exit 2                                the exit code; 0 if left out
  out: some words                       standard output contains them
  err: some words                       standard error contains them
  err/ regular expression               ... matches it
  no file: x.onnx                       afterwards there is no such file (a glob)
  needs: shared/models                  the case ends as skipped unless this is beside the project
  needs: engine onednn                  ... unless this build has this engine
  needs: python numpy                   ... unless Python has this module
  needs: program chromium               ... unless there is this program
  needs: cores 2                        ... unless it may run on so many

A line that begins with two spaces continues the line before it: a command with a new line, expected
words with a space, or with nothing if the line before ends with a backslash.
The command `check NAME ARGUMENT...` calls the function NAME of checks/FILE.py, beside the case.

A crash (death by signal) or a sanitizer's report fails whatever is expected; but not one of memory
that libraries of others leak by themselves. Ends with 77 for a skipped case.
"""
import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
SANITIZER = re.compile(r"(Address|Leak|Thread)Sanitizer|: runtime error: ")
LEAKS = re.compile(r"==\d+==ERROR: LeakSanitizer: .*?SUMMARY: AddressSanitizer: [^\n]* leaked[^\n]*",
                   re.DOTALL)
NO_ROOM = re.compile(r"==\d+==ERROR: AddressSanitizer failed to allocate.*")  # under ulimit -v
CALLERS = re.compile(r"^ +#[1-9]\d* .*", re.MULTILINE)  # of what allocated
CHECK = '() { python3 "$SOURCE/tests/cases/run_check.py" "$CHECKS" "$@"; }'  # in every shell
LIBRARY = re.compile(r"\((/usr)?/lib/|\(<unknown module>\)")


def joined(first, second):
    """A line and the one that goes on with it."""
    if first.startswith("$ "):
        return f"{first}\n{second}"
    return first[:-1] + second if first.endswith("\\") else f"{first} {second}"


def read_lines(path):
    """Each with its number and what goes on with it."""
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("  "):
            lines[-1] = (lines[-1][0], joined(lines[-1][1], line.strip()))
        else:
            lines.append((number, line))
    return lines


def read_steps(path):
    steps = []
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("$ "):
            steps.append({"command": line[2:], "line": number, "exit": 0, "checks": []})
        elif line.startswith("needs: "):
            steps.append({"needs": line[7:].strip()})
        elif line.startswith("exit "):
            steps[-1]["exit"] = int(line[5:])
        else:
            kind, _, text = line.partition(" ")
            if line.startswith("no file: "):
                kind, text = "no file:", line[9:]
            if kind not in ("out:", "err:", "out/", "err/", "no file:"):
                sys.exit(f"{path}:{number}: '{kind}' is no kind of expectation")
            steps[-1]["checks"].append((kind, text.strip(), number))
    return steps


def holds(kind, text, result, folder):
    stream = result.stdout if kind.startswith("out") else result.stderr
    if kind == "no file:":
        return not list(folder.glob(text))
    if kind.endswith("/"):
        return re.search(text, stream, re.MULTILINE) is not None
    return text in stream


def is_reported(text):
    """Whether a sanitizer found anything but leaks with nothing of ours on the stack."""
    ours = [frame for leaks in LEAKS.findall(text) for frame in CALLERS.findall(leaks)
            if not LIBRARY.search(frame)]
    return ours or SANITIZER.search(NO_ROOM.sub("", LEAKS.sub("", text)))


def what_is_missing(need, source, environment):
    """What a case needs and does not find, or nothing."""
    kind, _, name = need.partition(" ")
    if kind == "engine":
        board = subprocess.run(["millrace", "board", "--json"], env=environment, check=True,
                               capture_output=True, text=True)
        found = [engine["name"] for engine in json.loads(board.stdout)["engines"]
                 if "absent" not in engine]
        return None if name in found else f"the engine {name}, which this build lacks"
    if kind == "cores":
        here = len(os.sched_getaffinity(0))
        return None if here >= int(name) else f"{name} cores; this process may run on {here}"
    if kind == "program":
        return None if shutil.which(name) else f"{name}; install the package {name}"
    if kind == "python":
        there = importlib.util.find_spec(name)
        return None if there else f"Python's {name}, which is not here"
    place = source.parent / need
    return None if place.exists() else f"{place}, which is not here"


def run_step(step, folder, environment):
    result = subprocess.run(["bash", "-c", step["command"]], cwd=folder, env=environment,
                            capture_output=True, text=True, errors="replace", timeout=300)
    problems = []
    if result.returncode < 0 or result.returncode in (134, 136, 139):
        problems.append(f"line {step['line']}: died by signal ({result.returncode})")
    elif result.returncode != step["exit"]:
        problems.append(f"line {step['line']}: exit {result.returncode}, expected {step['exit']}")
    if is_reported(result.stderr):
        problems.append(f"line {step['line']}: a sanitizer reports an error")
    for kind, text, number in step["checks"]:
        if not holds(kind, text, result, folder):
            problems.append(f"line {number}: does not hold: {kind} {text}")
    if problems:
        print(f"$ {step['command']}\n--- out\n{result.stdout[-4000:]}\n--- err\n"
              f"{result.stderr[-4000:]}\n---\n" + "\n".join(problems))
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", type=Path)
    parser.add_argument("--millrace", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    arguments = parser.parse_args()
    steps = read_steps(arguments.case)
    checks = arguments.case.resolve().parent / "checks" / f"{arguments.case.stem}.py"
    with tempfile.TemporaryDirectory(prefix="millrace_case_") as name:
        folder = Path(name)
        (folder / ".runtime").mkdir(mode=0o700)
        environment = dict(os.environ, SOURCE=str(arguments.source), CHECKS=str(checks),
                           XDG_CACHE_HOME=str(folder / ".cache"),
                           XDG_RUNTIME_DIR=str(folder / ".runtime"),  # others use no core
                           LSAN_OPTIONS="exitcode=0",
                           PATH=f"{arguments.millrace.parent}:{os.environ['PATH']}")
        environment["BASH_FUNC_check%%"] = CHECK
        for step in steps:
            if "needs" in step:
                missing = what_is_missing(step["needs"], arguments.source, environment)
                if missing:
                    print(f"skipped: needs {missing}")
                    return SKIPPED
            elif not run_step(step, folder, environment):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
