#!/usr/bin/env python3
"""The plan's choice for two boards beside the best split by hand, over all cut points.

  cluster_splits.py --millrace PATH [--networks LIST] [--rates 1000,100,10] [--board raspberry-pi-5]

Both are simulated: one core of each board, a link of so many Mbit/s between them. By hand the first layers stand on the first
board, up to a cut point, and the others on the second.
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path


class Command:
    def __init__(self, path, folder):
        self.path, self.folder = str(Path(path).resolve()), folder

    def __call__(self, *words):
        return subprocess.run([self.path, *words], cwd=self.folder, capture_output=True, text=True)

    def frames_per_second(self, network, *words):
        """Nothing if there is no such plan: two branches cross the cut."""
        planned = self("plan", network, "--board", "pair.yaml", *words, "-o", "tried.plan.json")
        if planned.returncode:
            return None, planned.stderr
        simulated = self("simulate", "tried.plan.json", "--json")
        return json.loads(simulated.stdout)["plans"][0]["throughput_fps"], planned.stderr


def layers_of(millrace, network):
    return [layer["name"] for layer in json.loads(millrace("inspect", network, "--json").stdout)["layers"]]


def uses_both(folder):
    stages = json.loads((folder / "tried.plan.json").read_text())["stages"]
    return any(each.get("processor", {"name": "second."})["name"].startswith("second.") for each in stages)


def compare(millrace, network, rate):
    found, said = millrace.frames_per_second(network, "--processors", "core0,second.core0")
    both = uses_both(millrace.folder)
    one, _ = millrace.frames_per_second(network, "--processors", "core0")
    best, cut, tried = 0, "", 0
    for layer in layers_of(millrace, network)[:-1]:
        speed, _ = millrace.frames_per_second(network, "--devices", "core0,second.core0", "--cut-points", layer)
        tried += speed is not None
        if speed is not None and speed > best:
            best, cut = speed, layer
    print(f"{network} at {rate} Mbit/s: plan {found:.2f} frames/s on {'both boards' if both else 'one board'}, "
          f"best of {tried} cuts {best:.2f} after {cut}, one core alone {one:.2f}: plan / best cut {found / best:.3f}", flush=True)
    for line in said.splitlines():
        if not both and "second" in line:
            print("  ", line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--networks", default="squeezenet1_1,mobilenet_v2,resnet18")
    parser.add_argument("--rates", default="1000,100,10", help="Mbit/s")
    parser.add_argument("--board", default="raspberry-pi-5")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rate in map(float, options.rates.split(",")):
            (folder / "pair.yaml").write_text(
                f"format: 1\nname: pair\nhere: {options.board}\nboards:\n"
                f"  - {{name: second, board: {options.board}, gb_per_s: {rate / 8e3:g}, latency_us: 100}}\n")
            for network in options.networks.split(","):
                compare(Command(options.millrace, folder), network, rate)


main()
