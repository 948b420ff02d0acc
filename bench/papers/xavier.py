"""What the scripts about Kim's thesis share: a search on a Jetson AGX Xavier by its board file, simulated."""
import argparse
import csv
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PRECISIONS = {"f16": "f16", "int8": "int8,f16"}
OPTIONS = {"E": 1, "A": 2, "PND-A": 2, "B": 3, "C": 3, "PND-B": 3, "D": 4}  # and their stages
NOISE = 0.01  # options whose throughput differs by less are equal; of equals, the one with fewest stages
STREAMS = 8  # of a stage, at most; the search chooses
PRE_US, POST_US = 6344, 2207  # Figure 3.12: yolov4's, on one of eight cores


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millrace", default=str(ROOT / "build/release/bin/millrace"))
    parser.add_argument("--models", type=Path, default=ROOT.parent / "shared/models/darknet_cfg")
    parser.add_argument("--board", default=str(ROOT / "boards/jetson-agx-xavier.yaml"))
    parser.add_argument("--published", type=Path, default=HERE / "published.json")
    return parser.parse_args()


def published(options, key):
    return json.loads(options.published.read_text())[key]["rows"]


def with_relu(options, network, folder):
    """A copy of the network's .cfg file with a ReLU for what a DLA lacks."""
    model = folder / f"{network}.cfg"
    text = (options.models / f"{network}.cfg").read_text()
    model.write_text(re.sub(r"(?m)^activation\s*=\s*(leaky|mish)\s*$", "activation=relu", text))
    return model


def planned(options, model, precision, method, more=()):
    """The rows of the search's log, and what the command says beside its result."""
    log = model.with_suffix(".csv")
    words = ["plan", model, "--board", options.board, "--processors", "gpu,dla0,dla1",
             "--precision", PRECISIONS[precision], "--search", method, "--streams", STREAMS,
             "--log", log, "-o", model.with_suffix(".plan.json"), *more]
    words = [str(word) for word in words]
    done = subprocess.run([options.millrace, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"millrace {' '.join(words)}\n{done.stderr}")
    with open(log, newline="") as file:
        next(file)  # the comment
        return list(csv.DictReader(file)), done.stderr


def at_size(size, batch=1):
    """Options for pictures of a size, several in a frame: pre- and post-processing takes as many times as long."""
    return ["--shape", f"data={batch}x3x{size}x{size}", "--pre-time", f"{batch * PRE_US}us",
            "--post-time", f"{batch * POST_US}us"]


def searched(options, model, precision, size=416, batch=1, more=()):
    """By option the best throughput in frames per second, and the number of candidates."""
    rows, _ = planned(options, model, precision, "cut-points", [*at_size(size, batch), *more])
    best = {}
    for row in rows:
        name = row["option"] or "other"
        best[name] = max(best.get(name, 0), batch * float(row["throughput_fps"]))
    print(f"{model.stem} {precision} at {size}, batch {batch}: done", file=sys.stderr)
    return {name: best[name] for name in OPTIONS if name in best}, len(rows)


def chosen(best):
    most = max(best.values())
    equal = [name for name in best if best[name] >= (1 - NOISE) * most]
    return min(equal, key=lambda name: (OPTIONS[name], -best[name]))
