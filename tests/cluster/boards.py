#!/usr/bin/env python3
"""Two boards over a link of a known rate: right results, and frames/s as predicted.

  boards.py --millrace PATH --source PROJECT_FOLDER [--rates 1000mbit,100mbit] [--networks LIST] [--seconds 3] [--slower N]

The second board is a network namespace behind a pair of devices with that rate (tc). With --slower there are two such boards
whose cores are so many times slower, and the first one only passes tensors on: so two cores suffice for all. Skipped (77)
without the right to make namespaces, without ip and tc (package iproute2), or with fewer than two cores.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
PORT = 7321
SERVER = """
import socket, subprocess, sys
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("0.0.0.0", int(sys.argv[1])))
server.listen()
print("ready", flush=True)
while True:
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    subprocess.Popen(sys.argv[2:], stdin=connection, stdout=connection)
    connection.close()
"""


def missing():
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            return f"{program}; install the package iproute2"
    if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        return "the right to make namespaces, which root has"
    if len(os.sched_getaffinity(0)) < 2:
        return "two cores"
    return None


class Board:
    """A network namespace with a worker that listens, at the other end of a link."""

    def __init__(self, name, number, rate, worker):
        self.name, self.address = name, f"10.77.{number}.2"
        here, there = f"mr{os.getpid() % 1000}a{number}", f"mr{os.getpid() % 1000}b{number}"
        self.here = here
        self.space = f"millrace{os.getpid()}_{number}"
        self.run("ip", "netns", "add", self.space)
        self.run("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", self.space)
        self.run("ip", "addr", "add", f"10.77.{number}.1/24", "dev", here)
        self.run("ip", "link", "set", here, "up")
        inside = ["ip", "netns", "exec", self.space]
        self.run(*inside, "ip", "addr", "add", f"{self.address}/24", "dev", there)
        self.run(*inside, "ip", "link", "set", there, "up")
        limit = ["root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms"]
        self.run("tc", "qdisc", "add", "dev", here, *limit)
        self.run(*inside, "tc", "qdisc", "add", "dev", there, *limit)
        self.server = subprocess.Popen([*inside, sys.executable, "-c", SERVER, str(PORT), *worker],
                                       stdout=subprocess.PIPE, text=True)
        self.server.stdout.readline()

    @staticmethod
    def run(*words):
        subprocess.run(words, check=True, capture_output=True)

    def close(self):
        self.server.kill()
        self.server.wait()
        subprocess.run(["ip", "netns", "del", self.space], capture_output=True)
        subprocess.run(["ip", "link", "del", self.here], capture_output=True)


def number_of(text):
    return float(text.rstrip("mbit")) / 8e3


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


def try_network(options, folder, model, rate):
    processors = "second.core0,third.core1" if options.slower else "core0,second.core1"
    engines = ["--engine", "onednn,cluster", "--engine-option", "cluster.file=boards.yaml"]

    def millrace(*words):
        done = subprocess.run([options.millrace, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            print(done.stdout, done.stderr)
        return done

    name = Path(model).stem
    plan = f"{name}.plan.json"
    cuts = ["--cut-points", options.cut] if options.cut else []
    done = millrace("plan", model, *engines, "--processors", processors, "--no-cache", "--measure", "0",
                    *(["--devices", processors, *cuts] if cuts else []), "-o", plan)
    if not check(f"{name} at {rate}: planned", done.returncode == 0):
        return False
    stages = json.loads((folder / plan).read_text())["stages"]
    print("     ", ", ".join(f"{s['processor']['name']} {s['predicted_ms']:.1f} ms" for s in stages
                             if "processor" in s), flush=True)
    good = check(f"{name} at {rate}: verified", "agree" in millrace("verify", plan).stdout)
    simulated = json.loads(millrace("simulate", plan, "--json").stdout)["plans"][0]["throughput_fps"]
    bench = json.loads(millrace("bench", plan, "--rounds", "3", "--duration", options.seconds,
                                "--no-baselines", "--json").stdout)
    measured = bench["rows"][-1]["throughput_fps"]
    return check(f"{name} at {rate}: {measured:.2f} frames/s measured, {simulated:.2f} predicted, "
                 f"{measured / simulated:.2f}", options.loose or 0.9 < measured / simulated < 1.1) and good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--rates", default="100mbit")
    parser.add_argument("--networks", default="")
    parser.add_argument("--seconds", default="1")
    parser.add_argument("--cut", default="", help="the last layer on the first board; else the plan's own choice")
    parser.add_argument("--loose", action="store_true", help="rates are shown, not judged")
    parser.add_argument("--slower", type=int, default=0, help="so many times")
    options = parser.parse_args()
    options.millrace = str(Path(options.millrace).resolve())
    if reason := missing():
        print("skipped: needs", reason)
        return SKIPPED
    worker = [str(Path(options.millrace).with_name("millrace-worker"))]
    worker += ["--slower", str(options.slower)] if options.slower else []
    relay = Path(options.source).resolve() / "tests" / "cluster" / "relay.py"
    good = True
    for rate in options.rates.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder, boards = Path(name), []
            try:
                for number, other in enumerate(["second", "third"][:2 if options.slower else 1], 1):
                    boards.append(Board(other, number, rate, worker))
                (folder / "boards.yaml").write_text("format: 1\nname: boards\nboards:\n" + "".join(
                    f"  - name: {board.name}\n    reach: {sys.executable} {relay} {board.address} {PORT}\n"
                    for board in boards))
                os.environ["MILLRACE_CLUSTER_FILE"] = str(folder / "boards.yaml")
                models = options.networks.split(",") if options.networks else [
                    str(Path(options.source) / "models" / "digits.onnx")]
                for model in models:
                    good &= try_network(options, folder, model, rate)
            finally:
                for board in boards:
                    board.close()
    return 0 if good else 1


sys.exit(main())
