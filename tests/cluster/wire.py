#!/usr/bin/env python3
"""Tensors cross a link in fewer bits where the file of boards says so, and what that loses is said.

  wire.py --millrace PATH --source PROJECT_FOLDER
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


def try_wire(options, folder, wire, bounds):
    worker = str(Path(options.millrace).with_name("millrace-worker"))
    (folder / "boards.yaml").write_text(
        f"format: 1\nname: boards\nboards:\n  - {{name: second, reach: nice -n 0, worker: {worker}, wire: {wire}}}\n")
    option = ["--engine-option", "cluster.file=boards.yaml"]

    def millrace(*words):
        return subprocess.run([options.millrace, *words, *option], cwd=folder, capture_output=True, text=True)

    model = str(Path(options.source).resolve() / "models" / "digits.onnx")
    planned = millrace("plan", model, "--engine", "onednn,cluster", "--devices", "core0,second.core0", "--cut-points", "relu2",
                       "--measure", "0", "--no-cache", "-o", "boards.plan.json")
    if not check(f"{wire}: planned", planned.returncode == 0):
        print(planned.stderr)
        return False
    said = re.search(f"float32 tensors cross the link to second as {wire}: on 3 random frames the outputs are off by (\\S+) "
                     "of their largest value", planned.stderr)
    good = check(f"{wire}: plan says {said[1] if said else 'nothing'}",
                 (said is None) == (wire == "f32") and (said is None or bounds[0] < float(said[1]) < bounds[1]))
    verified = json.loads(millrace("verify", "boards.plan.json", "--json").stdout)
    error = next(plan["largest_error"] for plan in verified["plans"] if plan["name"] == "boards.plan.json")
    return check(f"{wire}: verify finds {error:.1e}", bounds[0] <= error < bounds[1] and verified["equal"]) and good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    options = parser.parse_args()
    options.millrace = str(Path(options.millrace).resolve())
    good = True
    with tempfile.TemporaryDirectory() as name:
        for wire, bounds in {"f32": (0, 1e-5), "f16": (1e-5, 5e-3), "int8": (5e-4, 0.1)}.items():
            good &= try_wire(options, Path(name), wire, bounds)
    return 0 if good else 1


sys.exit(main())
