#!/usr/bin/env python3
"""Runs the cases of shared/cases beside the project, which others wrote down.

  shared_cases.py models|applications --millrace PATH --source PROJECT_FOLDER

models: every network on every engine that computes, with the given inputs; outputs as expected.
applications: every repro.sh, which ends with 1 as long as its fault is there.
Ends with 77 where there is no such folder.
"""
import argparse
import array
import ast
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
TOLERANCE = 1e-4
TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B", "|i1": "b", "|b1": "B"}
# Not as expected, each with its reason.
MODELS_REFUSED = {"input_without_elements": "inputs without elements are refused in a sentence"}
MODEL_OPTIONS = {"batch_of_zero": ["--shape", "x=1x3x4x4"]}
INPUT_NAMES = {"input_name_long": {"x": "x" * 300}}
APPLICATIONS_LEFT = {} if importlib.util.find_spec("cv2") else {
    "annotated_live_speed": "needs Python's cv2, which is not here; videos.case does not",
}


def read_npy(path):
    """The shape and the numbers of an array in C order."""
    data = Path(path).read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode())
    assert data[:6] == b"\x93NUMPY" and data[6] == 1 and not header["fortran_order"], path
    numbers = array.array(TYPES[header["descr"]])
    numbers.frombytes(data[10 + length:])
    return header["shape"], numbers


def sizes(array):
    """Without those of 1: a file of results has a dimension for its frames."""
    return [size for size in array[0] if size != 1]


def difference(found, expected):
    if sizes(found) != sizes(expected):
        return math.inf
    largest = max((abs(x) for x in expected[1]), default=0)
    worst = max((abs(a - b) for a, b in zip(found[1], expected[1])), default=0)
    return worst / max(largest, 1e-6)


def complaint_about(case, engine, millrace):
    model = next(case.glob("model.onnx"), case / "model.cfg")
    command = [millrace, "run", str(model), "--no-cache", "--engine", engine]
    command += MODEL_OPTIONS.get(case.name, [])
    for file in sorted(case.glob("in_*.npy")):
        name = file.stem[3:]
        name = INPUT_NAMES.get(case.name, {}).get(name, name)
        command += ["--input", f"{name}={file}"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command + ["-o", "out.npy"], cwd=folder, capture_output=True,
                              text=True, timeout=60)
        if case.name in MODELS_REFUSED:
            return None if done.returncode == 2 else f"exit {done.returncode}, expected 2"
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr}"
        found = [read_npy(path) for path in Path(folder).glob("out*.npy")]
    expected = [read_npy(path) for path in sorted(case.glob("expected*.npy"))]
    if len(found) != len(expected):
        return f"{len(found)} outputs, expected {len(expected)}"
    # The files of several outputs have their names, the expected ones their numbers.
    worst = max(min(difference(a, b) for a in found) for b in expected)
    return None if worst <= TOLERANCE else f"differs by {worst:.1e} of the largest value"


def models(cases, millrace, _):
    board = json.loads(subprocess.run([millrace, "board", "--json"], check=True,
                                      capture_output=True, text=True).stdout)
    engines = [engine["name"] for engine in board["engines"]
               if engine["name"] != "simulated" and "absent" not in engine]
    for case in sorted(path for path in cases.iterdir() if path.is_dir()):
        for engine in engines:
            yield f"{case.name} on {engine}", complaint_about(case, engine, millrace)


def applications(cases, millrace, source):
    environment = {**os.environ, "MILLRACE": millrace,
                   "SHARED": str(cases.parent.parent / "models"),
                   "DIGITS": str(source / "models/digits.onnx")}
    for script in sorted(cases.glob("*/repro.sh")):
        name = script.parent.name
        if name in APPLICATIONS_LEFT:
            print(f"left out: {name}: {APPLICATIONS_LEFT[name]}")
            continue
        done = subprocess.run(["bash", str(script)], env=environment, capture_output=True, text=True,
                              timeout=240)
        yield name, None if done.returncode == 0 else done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["models", "applications"])
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True, type=Path)
    options = parser.parse_args()
    cases = options.source.resolve().parent / "shared/cases" / options.kind
    if not cases.is_dir():
        print(f"skipped: there is no {cases}")
        return SKIPPED
    wrong = 0
    run = models if options.kind == "models" else applications
    for name, complaint in run(cases, options.millrace, options.source.resolve()):
        if complaint:
            wrong += 1
            print(f"{name}: {complaint}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
