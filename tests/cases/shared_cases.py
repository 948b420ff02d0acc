#!/usr/bin/env python3
"""Runs the cases of shared/cases beside the project, which others wrote down.

  shared_cases.py models|turn3|applications --millrace PATH --source PROJECT_FOLDER

models: every network on every engine that computes, with the given inputs; outputs as expected.
turn3: likewise, with arrays in archives; those that are listed are refused in a sentence, or right where ONNX Runtime is at hand.
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
import zipfile
from pathlib import Path

SKIPPED = 77
TOLERANCE = 1e-4
TYPES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B", "|i1": "b", "|b1": "B"}
# Not as expected, each with its reason.
MODELS_REFUSED = {"input_without_elements": "inputs without elements are refused in a sentence"}
MODELS_REFUSED.update({f"refused_{name}": f"{why} is not supported" for name, why in {
    "lstm_lengths_input": "a length that is an input",
    "ml_forest": "an ensemble of trees", "ms_gqa": "GroupQueryAttention", "ort13894b": "a count that is an input",
    "scan": "Scan", "tensorscatter": "TensorScatter", "unique": "Unique"}.items()})
MODEL_OPTIONS = {"batch_of_zero": ["--shape", "x=1x3x4x4"], "refused_ml_forest": ["--shape", "X=3x4"],
                 "branch_not_taken": ["--shape", "x=1x24"]}
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
    largest = max((abs(x) for x in expected[1] if not math.isnan(x)), default=0)
    worst = max((0 if math.isnan(a) and math.isnan(b) else abs(a - b) for a, b in zip(found[1], expected[1])), default=0)
    return worst / max(largest, 1e-6)


def arrays_of(case, what, folder):
    """By name: files beside the case, or of its archive, which is unpacked into the folder."""
    archive = case / f"{what}.npz"
    if not archive.exists():
        return {path.stem.removeprefix(what + "_"): path for path in sorted(case.glob(f"{what}*.npy"))}
    into = Path(folder) / what
    zipfile.ZipFile(archive).extractall(into)
    return {path.stem: path for path in sorted(into.glob("*.npy"))}


def complaint_about(case, engine, millrace, knows_all):
    model = next(case.glob("model.onnx"), case / "model.cfg")
    command = [millrace, "run", str(model), "--no-cache", "--engine", engine]
    command += MODEL_OPTIONS.get(case.name, [])
    with tempfile.TemporaryDirectory() as archives, tempfile.TemporaryDirectory() as folder:
        for name, file in arrays_of(case, "in", archives).items():
            name = INPUT_NAMES.get(case.name, {}).get(name, name)
            command += ["--input", f"{name}={file}"]
        done = subprocess.run(command + ["-o", "out.npy"], cwd=folder, capture_output=True,
                              text=True, timeout=60)
        if case.name in MODELS_REFUSED and not (knows_all and done.returncode == 0):
            return None if done.returncode == 2 else f"exit {done.returncode}, expected 2"
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr}"
        found = [read_npy(path) for path in Path(folder).glob("out*.npy")]
        expected = [read_npy(path) for path in arrays_of(case, "expected", archives).values()]
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
            yield f"{case.name} on {engine}", complaint_about(case, engine, millrace, "onnxruntime" in engines)


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
    parser.add_argument("kind", choices=["models", "turn3", "applications"])
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True, type=Path)
    options = parser.parse_args()
    cases = options.source.resolve().parent / "shared/cases" / {"turn3": "turn3/models"}.get(options.kind, options.kind)
    if not cases.is_dir():
        print(f"skipped: there is no {cases}")
        return SKIPPED
    wrong = 0
    run = applications if options.kind == "applications" else models
    for name, complaint in run(cases, options.millrace, options.source.resolve()):
        if complaint:
            wrong += 1
            print(f"{name}: {complaint}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
