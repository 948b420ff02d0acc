#!/usr/bin/env python3
"""Two boards give what one gives, bit for bit in float32, if the layers run in the same variants.

  same_bits.py --millrace PATH --source PROJECT_FOLDER [--networks MODEL:LAYER,...]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


def compare(options, folder, model, cut):
    def millrace(*words):
        return subprocess.run([options.millrace, *words], cwd=folder, capture_output=True, text=True)

    def plan(output, *words):
        done = millrace("plan", model, "--cut-points", cut, "--measure", "0", "--no-cache", "-o", output, *words)
        if done.returncode:
            print(done.stdout, done.stderr)
        return json.loads((folder / output).read_text())

    two = plan("two.plan.json", "--devices", "core0,second.core1", "--engine", "onednn,cluster",
               "--engine-option", "cluster.file=boards.yaml")
    one = plan("one.plan.json", "--devices", "core0,core1", "--engine", "onednn")
    one["variants"] = {layer: variant.replace("onednn/", "") for layer, variant in two.get("variants", {}).items()
                       if "cluster" not in variant}
    (folder / "one.plan.json").write_text(json.dumps(one))
    outputs = []
    for name in ("one", "two"):
        done = millrace("run", f"{name}.plan.json", "--random", "5", "--seed", "3", "-o", f"{name}.npy")
        if done.returncode:
            print(done.stderr)
        outputs.append({file.name.removeprefix(name): file.read_bytes() for file in folder.glob(f"{name}*.npy")})
    return check(f"{Path(model).stem}, cut after {cut}: {len(outputs[0])} outputs of 5 frames are the same",
                 len(outputs[0]) > 0 and outputs[0] == outputs[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--networks", default="")
    options = parser.parse_args()
    options.millrace = str(Path(options.millrace).resolve())
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: needs two cores")
        return 77
    worker = str(Path(options.millrace).with_name("millrace-worker"))
    good = True
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "boards.yaml").write_text(
            f"format: 1\nname: boards\nboards:\n  - {{name: second, reach: nice -n 0, worker: {worker}}}\n")
        os.environ["MILLRACE_CLUSTER_FILE"] = str(Path(name) / "boards.yaml")
        digits = f"{Path(options.source).resolve() / 'models' / 'digits.onnx'}:relu2"
        for each in (options.networks or digits).split(","):
            good &= compare(options, Path(name), *each.rsplit(":", 1))
    return 0 if good else 1


sys.exit(main())
