#!/usr/bin/env python3
"""Searches that MPI's ranks share: the same files for any number of ranks, and each failure ends all of them.

  ranks.py --millrace PATH --source PROJECT_FOLDER

Skipped (77) without mpirun or without the library that connects ranks.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--quiet"]
SYSTEM = """\
format: 1
name: two
board: jetson-agx-xavier
groups:
  - {name: first, model: squeezenet1_1, precision: [f16], rate_fps: 20}
  - {name: second, model: resnet18, precision: [f16], rate_fps: 30}
scenarios:
  - {name: both, groups: [first, second]}
"""


class Tests:
    def __init__(self, options):
        self.millrace = str(Path(options.millrace).resolve())
        self.good = True

    def check(self, words, holds, done=None):
        print("ok  " if holds else "FAIL", words, flush=True)
        if not holds and done is not None:
            print(done.returncode, done.stdout, done.stderr)
        self.good = self.good and holds

    def run(self, ranks, folder, *words):
        """Of so many ranks; 0: without mpirun."""
        folder.mkdir(exist_ok=True)
        start = [*MPIRUN, "-np", str(ranks)] if ranks else []
        return subprocess.run([*start, self.millrace, *words], cwd=folder, capture_output=True, text=True, timeout=100)

    def same(self, what, folder, files, *words):
        """The files that the command writes are the same with any number of ranks."""
        expected = None
        for ranks in (0, 1, 2, 3):
            place = folder / f"{what.replace(' ', '_')}{ranks}"
            done = self.run(ranks, place, *words)
            if done.returncode:
                return self.check(f"{what}: {ranks} ranks", False, done)
            found = [(place / name).read_bytes() for name in files]
            expected = expected or found
            self.check(f"{what}: {ranks or 'without'} ranks, the same files", found == expected, done)
            if ranks > 1:
                alone = f"rank 0 of {ranks} did all of it" in done.stderr
                self.check(f"{what}: {ranks} ranks share it, and one answers",
                           not alone and done.stdout.count("frames/s") == said, done)
            said = done.stdout.count("frames/s")
        return None

    def plans(self, folder):
        model = folder / "model.onnx"
        self.run(0, folder, "zoo", "squeezenet1_1", "-o", str(model))
        profile = str(folder / "times.profile.json")
        self.run(0, folder, "profile", str(model), "--no-cache", "-o", profile)
        self.same("mappings", folder, ["a.plan.json"], "plan", str(model), "--profile", profile, "--measure", "0",
                  "--set", "search.population=60", "--set", "search.epochs=30", "--seed", "5", "-o", "a.plan.json")
        configurations = ["plan", "yolov2_tiny", "--board", "jetson-agx-xavier", "--processors", "gpu,dla0,dla1",
                          "--precision", "f16", "--seed", "3", "-o", "a.plan.json"]
        for search, count in (("all-genetic", 60), ("cut-points", 150)):
            self.same(f"configurations by {search}", folder, ["a.plan.json", "log.csv"], *configurations, "--search",
                      search, "--set", f"search.candidates={count}", "--set", "search.log=log.csv")
        whole = (folder / "configurations_by_all-genetic0" / "log.csv").read_bytes()
        for ranks in (0, 3):
            place = folder / f"resumed{ranks}"
            place.mkdir()
            (place / "log.csv").write_bytes(whole[:len(whole) // 2])
            done = self.run(ranks, place, *configurations, "--search", "all-genetic", "--set", "search.candidates=60",
                            "--set", "search.resume=log.csv")
            self.check(f"a search goes on from its journal: {ranks or 'without'} ranks",
                       done.returncode == 0 and (place / "log.csv").read_bytes() == whole, done)
        done = self.run(2, folder / "measured", "plan", str(model), "--measure", "0.05", "--no-cache", "-o", "a.plan.json")
        self.check("the first of 2 ranks measures, and the plan has its figures",
                   done.returncode == 0 and "measured" in (folder / "measured/a.plan.json").read_text(), done)

    def deployments(self, folder):
        (folder / "two.yaml").write_text(SYSTEM)
        self.same("a deployment", folder, ["a.json"], "plan", str(folder / "two.yaml"), "--set", "system.front-generations=8",
                  "--population", "20", "--seed", "7", "-o", "a.json")

    def failures(self, folder):
        first, second = folder / "first", folder / "second"
        for place, name in ((first, "squeezenet1_1"), (second, "resnet18")):
            place.mkdir()
            self.run(0, place, "zoo", name, "-o", "model.onnx")
        command = [self.millrace, "plan", "model.onnx", "--board", "jetson-agx-xavier", "-o", "a.plan.json"]

        def ranks(second_place, *more):
            both = [*MPIRUN, "-np", "1", "--wdir", str(first), *command, ":", "-np", "1", "--wdir", str(second_place),
                    *command, *more]
            return subprocess.run(both, capture_output=True, text=True, timeout=60)

        def said(done, sentence):
            return done.returncode != 0 and sum(sentence in line for line in done.stderr.splitlines()) == 1

        done = ranks(second)
        self.check("another model on one rank is refused", said(done, "rank 1: its model is not the same"), done)
        done = ranks(first, "--seed", "9")
        self.check("other words on one rank are refused", said(done, "rank 1: its command, version"), done)
        (second / "model.onnx").unlink()
        done = ranks(second)
        self.check("what one rank alone comes upon ends both", said(done, "millrace: rank 1 on "), done)
        done = self.run(2, first, "plan", "missing.onnx")
        self.check("what both come upon is said once", said(done, "missing.onnx"), done)

    def killed(self, folder):
        words = ["plan", "yolov4", "--board", "jetson-agx-xavier", "--precision", "f16", "--search", "random", "--set",
                 "search.candidates=100000", "-o", "a.plan.json"]
        started = subprocess.Popen([*MPIRUN, "-np", "2", self.millrace, *words], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children = []
        end = time.monotonic() + 30
        while len(children) < 2 and time.monotonic() < end:
            found = subprocess.run(["pgrep", "-P", str(started.pid)], capture_output=True, text=True)
            children = [int(child) for child in found.stdout.split()]
            time.sleep(0.1)
        time.sleep(1)
        os.kill(children[-1], signal.SIGKILL)
        try:
            code = started.wait(timeout=30)
        except subprocess.TimeoutExpired:
            started.kill()
            code = 0
        self.check("a killed rank ends the other one", code != 0)

    def without_library(self, folder):
        (folder / "bin").mkdir()
        alone = folder / "bin" / "millrace"
        shutil.copy(self.millrace, alone)
        done = subprocess.run([alone, "plan", "resnet18"], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}, timeout=60)
        self.check("without the library it says what is missing",
                   done.returncode == 2 and "this build cannot connect them" in done.stderr, done)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    options = parser.parse_args()
    tests = Tests(options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        tests.without_library(folder)
        if not list(Path(tests.millrace).parent.parent.glob("lib*/**/libmillrace_mpi.so")):
            print("skipped: this build has no libmillrace_mpi.so, for want of MPI's headers")
            return SKIPPED if tests.good else 1
        if shutil.which("mpirun") is None:
            print("skipped: there is no mpirun; install the package openmpi-bin")
            return SKIPPED if tests.good else 1
        tests.plans(folder)
        tests.deployments(folder)
        tests.failures(folder)
        tests.killed(folder)
    return 0 if tests.good else 1


if __name__ == "__main__":
    sys.exit(main())
