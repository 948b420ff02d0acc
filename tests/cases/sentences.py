#!/usr/bin/env python3
"""Runs the commands of docs/evidence/jedi-sentences.md, and looks for what the page says of their output.

  sentences.py PAGE --millrace PATH --source PROJECT_FOLDER [--models FOLDER] [--show]

The page's first block of shell text is run in an empty folder, then row by row the commands of the third column. Each
`code` of the last column must be in the output of the row's command, or of the command above where the row has none;
... or an ellipsis in it stands for anything. What a row says without code is not looked at. --show prints the output.
Ends with 77 if the models are not there.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
CODE = re.compile(r"`([^`]*)`")
NO_INT8 = re.compile(r"--precision int8: core0 runs no layer of \S+ in int8")


def has_int8():
    """By the system's own word, not by that of the program."""
    words = Path("/proc/cpuinfo").read_text().split()
    return "avx512_vnni" in words or "asimddp" in words


def rows_of(page):
    """(number of the line, command, expected) of all rows of tables with four columns."""
    rows, command = [], None
    for number, line in enumerate(page.splitlines(), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 4 or cells[0] in ("§", "---"):
            continue
        commands = CODE.findall(cells[2])
        command = commands[0].replace(r"\|", "|") if commands else command
        rows.append((number, command, CODE.findall(cells[3])))
    return rows


def is_in(expected, output):
    parts = [re.escape(" ".join(part.split())) for part in re.split("…", expected)]
    return re.search(".*".join(parts), " ".join(output.split()), re.DOTALL) is not None


def environment_of(options, models):
    pairs = {"S": options.source.resolve(), "D": models / "darknet_cfg", "P": models / "images",
             "Y": models / "darknet/yolo-fastest-1.1.cfg", "N": models / "labels/coco.names"}
    return dict(os.environ, PATH=f"{options.millrace.resolve().parent}:{os.environ['PATH']}",
                **{name: str(path) for name, path in pairs.items()})


def output_of(command, setup, folder, environment):
    try:
        done = subprocess.run(["bash", "-c", f"{setup}\n{command}"], cwd=folder, env=environment, text=True,
                              capture_output=True, errors="replace", timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "takes more than 60 s", 124
    return done.stdout + done.stderr, done.returncode


def check(rows, setup, folder, environment, show):
    outputs, missing = {}, 0
    for number, command, expected in rows:
        if command not in outputs:
            outputs[command] = output_of(command, setup, folder, environment)
        text, code = outputs[command]
        if NO_INT8.search(text) and not has_int8():
            print(f"line {number}: not looked at: this machine has no instructions for int8")
            continue
        absent = [words for words in expected if not is_in(words, text)]
        # A command that ends with `;` before another one may fail where it must.
        failed = code != 0 and ";" not in command and "exit" not in command
        if show or absent or failed:
            print(f"line {number}: $ {command}\n{text[:3000]}\nexit {code}")
        for words in absent:
            print(f"line {number}: not there: {words}")
        missing += len(absent) + failed
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--millrace", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    models = options.models or options.source.parent / "shared/models"
    if not models.is_dir():
        print(f"skipped: needs {models}, which is not here")
        return SKIPPED
    page = options.page.read_text("utf-8")
    setup = re.search(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    with tempfile.TemporaryDirectory(prefix="millrace_sentences_") as name:
        environment = environment_of(options, models)
        environment["XDG_CACHE_HOME"] = f"{name}/.cache"
        once, settings = [], []
        for line in setup.splitlines():
            (settings if re.match(r"[A-Z]+=|relu\(", line) else once).append(line)
        folder = Path(name)
        prepared, code = output_of("\n".join(once), "\n".join(settings), folder, environment)
        if code != 0:
            sys.exit(f"the first block fails:\n{prepared}")
        rows = rows_of(page)
        missing = check(rows, "\n".join(settings), folder, environment, options.show)
    print(f"{len(rows)} rows, {len({row[1] for row in rows})} commands, {missing} that do not hold")
    return 1 if missing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
