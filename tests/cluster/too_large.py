#!/usr/bin/env python3
"""A network that is too large for one board runs on two, and gives the bits that it gives without limits of memory.

  too_large.py --millrace PATH --source PROJECT_FOLDER [--mebibytes 384] [--network vgg_19] [--divided fc6=2]

Each board is a control group with so much memory: the program in one, the worker in the other. The program's own part and what a
worker takes at its peak are printed. Skipped (77) where no such groups may be made.
"""
import argparse
import array
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
CGROUPS = Path("/sys/fs/cgroup")


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


class Group:
    """A control group of version 1 or 2 that limits memory. OSError if it cannot be made."""

    def __init__(self, name, mebibytes):
        is_first = (CGROUPS / "memory").is_dir()
        self.folder = (CGROUPS / "memory" if is_first else CGROUPS) / f"millrace-{os.getpid()}-{name}"
        self.peak = "memory.max_usage_in_bytes" if is_first else "memory.peak"
        self.folder.mkdir()
        try:
            limit = "memory.limit_in_bytes" if is_first else "memory.max"
            (self.folder / limit).write_text(str(mebibytes << 20))
            swap = self.folder / ("memory.memsw.limit_in_bytes" if is_first else "memory.swap.max")
            if swap.exists():
                swap.write_text(str(mebibytes << 20) if is_first else "0")
        except OSError:
            self.close()
            raise

    def command(self):
        """What starts a command in the group."""
        return ["sh", "-c", f"echo $$ > {self.folder}/cgroup.procs && exec \"$@\"", "sh"]

    def mebibytes(self):
        try:
            return int((self.folder / self.peak).read_text()) / 2**20
        except OSError:
            return float("nan")

    def anonymous(self):
        """What its processes have now, without pages of files, in MiB."""
        for line in (self.folder / "memory.stat").read_text().splitlines():
            word, value = line.split()
            if word in ("total_rss", "anon"):
                return int(value) / 2**20
        return float("nan")

    def close(self):
        for _ in range(50):
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.1)


class Trial:
    def __init__(self, options, folder, first, second):
        self.millrace = str(Path(options.millrace).resolve())
        self.worker = str(Path(self.millrace).with_name("millrace-worker"))
        self.folder, self.first, self.second = folder, first, second
        self.network = options.network
        script = folder / "second.sh"
        script.write_text(f"#!/bin/sh\necho $$ > {second.folder}/cgroup.procs && exec \"$@\"\n")
        script.chmod(0o755)
        for name, reach in (("limited", script), ("free", "nice -n 0")):
            (folder / f"{name}.yaml").write_text(
                f"format: 1\nname: pair\nboards:\n  - {{name: second, reach: {reach}, worker: {self.worker}}}\n")

    def run(self, *words, group=None):
        """Ends with what it said, the seconds that it took, and the largest part of the groups that is no file's."""
        began, most = time.time(), [0, 0]
        process = subprocess.Popen([*(group.command() if group else []), self.millrace, *words], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while True:
            try:
                out, error = process.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                most = [max(a, each.anonymous()) for a, each in zip(most, (self.first, self.second))]
        return process.returncode, out + error, time.time() - began, most

    def with_boards(self, boards, *words, group=None):
        return self.run(*words, "--engine-option", f"cluster.file={boards}.yaml", group=group)

    def numbers(self, name):
        file = self.folder / f"{name}.npy"
        return file.read_bytes() if file.exists() else b""


def try_two_boards(trial, options):
    code, said, took, most = trial.with_boards(
        "limited", "plan", "model.onnx", "--engine", "onednn,cluster", "--processors",
        "core0,second.core1", "--measure", options.measure, "--no-cache", "-o", "two.plan.json", group=trial.first)
    layer, parts = options.divided.split("=")
    good = check(f"planned in {took:.0f} s, at most {most[0]:.0f} and {most[1]:.0f} MiB that are no file's",
                 code == 0 and f"{layer} is divided into {parts} parts" in said)
    if not good:
        print(code, said)
        return False
    origin = json.loads((trial.folder / "two.plan.json").read_text())["origin"]
    good &= check("the plan says how the network is divided", origin["options"].get("divided") == options.divided)
    frames = ("--random", options.frames, "--seed", "3")
    code, said, took, most = trial.with_boards("limited", "run", "two.plan.json", *frames, "-o", "limited.npy",
                                               group=trial.first)
    good &= check(f"ran {options.frames} frames in {took:.0f} s, at most {most[0]:.0f} and {most[1]:.0f} MiB that are no file's, "
                  f"of {options.mebibytes} MiB each", code == 0) or bool(print(code, said))
    print(f"     the groups' peaks, with pages of files: {trial.first.mebibytes():.0f} and {trial.second.mebibytes():.0f} MiB")
    code, said, _, _ = trial.with_boards("free", "run", "two.plan.json", *frames, "-o", "free.npy")
    good &= check("the bits are those of a run without limits",
                  code == 0 and len(trial.numbers("free")) > 1000 and trial.numbers("free") == trial.numbers("limited"))
    code, said, _, _ = trial.run("run", "model.onnx", "--engine", "onednn", "--processors", "core0", *frames, "-o", "whole.npy")
    good &= check(f"they are {'' if trial.numbers('whole') == trial.numbers('limited') else 'not '}those of the undivided network",
                  code == 0 and near(trial.numbers("whole"), trial.numbers("limited")))
    return good


def forget(file):
    """Its pages, so that those who read it next pay for them."""
    if file.exists():
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def near(one, other):
    values = [array.array("f", each[10 + int.from_bytes(each[8:10], "little"):]) for each in (one, other)]
    largest = max(map(abs, values[0]), default=0)
    error = max((abs(a - b) for a, b in zip(*values)), default=1)
    print(f"     largest value {largest:.3g}, largest difference {error:.1e}")
    return len(values[0]) == len(values[1]) > 0 and error <= 1e-5 * largest


def try_one_board(trial):
    good = True
    for words in (("plan", "model.onnx", "--engine", "onednn", "--processors", "core0,core1", "--no-cache"),
                  ("run", "model.onnx", "--engine", "onednn", "--processors", "core0", "--random", "1")):
        code, said, took, _ = trial.run(*words, group=trial.first)
        last = said.strip().splitlines()[-1] if said.strip() else ""
        good &= check(f"one board, {words[0]}: exit {code} after {took:.0f} s: {last}", code == 2 and "are missing" in said)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--mebibytes", type=int, default=384)
    parser.add_argument("--network", default="vgg_19")
    parser.add_argument("--divided", default="fc6=2")
    parser.add_argument("--frames", default="1")
    parser.add_argument("--measure", default="0", help="seconds for each candidate of the plan")
    options = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: needs two cores")
        return SKIPPED
    groups = []
    try:
        for name in ("first", "second"):
            groups.append(Group(name, options.mebibytes))
    except OSError as error:
        for group in groups:
            group.close()
        print(f"skipped: needs control groups that limit memory ({error})")
        return SKIPPED
    try:
        with tempfile.TemporaryDirectory() as name:
            trial = Trial(options, Path(name), *groups)
            code, said, took, _ = trial.run("export", options.network, "--format", "onnx", "-o", "model.onnx")
            forget(trial.folder / "model.onnx.weights")
            good = check(f"exported in {took:.0f} s: {said.strip()}", code == 0 and "weights in" in said)
            return 0 if good and try_one_board(trial) & try_two_boards(trial, options) else 1
    finally:
        for group in groups:
            group.close()


sys.exit(main())
