#!/usr/bin/env python3
"""A board that goes away, or stalls, ends a run with a sentence that names it, and nothing hangs.

  faults.py --millrace PATH --source PROJECT_FOLDER [--tries 6] [--seed 1]
"""
import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workers import workers_of

LIMIT = 2  # seconds that a call may take


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


def disturbed_run(options, folder, chance):
    engines = ["--engine-option", "cluster.file=boards.yaml", "--engine-option", f"cluster.answer_s={LIMIT}"]
    command = [options.millrace, "run", "boards.plan.json", *engines, "--random", "2000000", "-o", "out.jsonl"]
    out = folder / "out.jsonl"
    out.unlink(missing_ok=True)
    started = time.time()
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.time() + 20
    while not workers_of(run.pid) and time.time() < until:
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 1.5))
    workers = workers_of(run.pid)
    stalls = chance.random() < 0.5
    begin = time.time()
    for worker in workers:
        os.kill(worker, signal.SIGSTOP if stalls else signal.SIGKILL)
    try:
        _, error = run.communicate(timeout=LIMIT + 15)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
        return check("a run hangs", False)
    finally:
        for worker in workers:
            try:
                os.kill(worker, signal.SIGKILL)
            except OSError:
                pass
    took = time.time() - begin
    last = error.strip().splitlines()[-1] if error.strip() else ""
    lines = out.read_text().splitlines() if out.exists() else []
    frames = [json.loads(line)["frame"] for line in lines]
    told = re.search(r"the board second is lost .*; (\d+) frames are done, (frames? \d+|none was on its way)", last)
    return check(f"{'stalled' if stalls else 'killed'}: ends after {took:.1f} s, {len(frames)} frames are written, exit {run.returncode}: {last}",
                 run.returncode == 3 and frames == list(range(len(frames))) and bool(workers) and took < LIMIT + 3
                 and (told is not None and int(told[1]) == len(frames) or begin - started < 0.5 and "second" in last))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--tries", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.millrace = str(Path(options.millrace).resolve())
    chance = random.Random(options.seed)
    worker = str(Path(options.millrace).with_name("millrace-worker"))
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "boards.yaml").write_text(
            f"format: 1\nname: boards\nboards:\n  - {{name: second, reach: nice -n 0, worker: {worker}}}\n")
        planned = subprocess.run(
            [options.millrace, "plan", str(Path(options.source) / "models" / "digits.onnx"), "--engine", "onednn,cluster",
             "--engine-option", "cluster.file=boards.yaml", 
             "--devices", "core0,second.core0", "--cut-points", "relu2", "--measure", "0", "--no-cache", "-o", "boards.plan.json"],
            cwd=folder, capture_output=True, text=True)
        good &= check("planned " + planned.stderr[-300:], planned.returncode == 0)
        for _ in range(options.tries if good else 0):
            good &= disturbed_run(options, folder, chance)
        left = [pid for pid in subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True).stdout.split()]
        good &= check("no process is left", not left)
    return 0 if good else 1


sys.exit(main())
