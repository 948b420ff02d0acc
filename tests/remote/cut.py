#!/usr/bin/env python3
"""Cuts the connection to a board at random moments: no process and no half file may stay.

  cut.py --millrace PATH --source PROJECT_FOLDER [--times 50] [--seed 1]

The board is a folder, reached through stand_in.py. A cut is one of three: the command here is killed, the
connection is killed, or the connection is silent (the network is dead). Five seconds later no process of
the board may be there, and no folder of the session. Files that the command was to write are whole or not
there. After all cuts a command succeeds.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LONGEST_S = 5.0
HERE = Path(__file__).resolve().parent


def processes_with(text):
    """Those whose environment names the text, as those of the board do."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if text in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def children_of(process):
    try:
        return [int(child) for child in
                Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


class Trial:
    def __init__(self, folder, arguments):
        self.folder = folder
        self.board = folder / "board"
        self.work = folder / "work"
        self.mark = f"HOME={self.board}".encode()
        self.environment = dict(os.environ, STAND_IN_BOARD=str(self.board), HOME=str(folder / "home"),
                                XDG_CACHE_HOME=str(folder / "cache"),
                                MILLRACE_SSH=f"{sys.executable} {HERE / 'stand_in.py'}")
        self.environment["STAND_IN_PATH"] = f"{arguments.millrace.parent}:{os.environ['PATH']}"
        self.millrace = arguments.millrace
        for each in (self.board, self.work):
            each.mkdir()

    def start(self, words):
        return subprocess.Popen([self.millrace, *words, "--on", "board"], cwd=self.work,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def cut(self, command, way):
        """What must be ended afterwards."""
        relays = children_of(command.pid)
        if way == "command":
            command.kill()
        for relay in relays:
            if way == "connection":
                os.kill(relay, signal.SIGKILL)
            elif way == "silence":
                os.kill(relay, signal.SIGSTOP)
        return relays

    def what_stays(self):
        sessions = [path for path in self.board.glob(".cache/millrace/remote/session-*")]
        halves = [path for path in self.folder.rglob("*.tmp")]
        return [f"process {each}" for each in processes_with(self.mark)] + sessions + halves

    def wait_until_nothing_stays(self):
        until = time.monotonic() + LONGEST_S
        while (left := self.what_stays()) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def half_results(self):
        for path in self.work.glob("*.json*"):
            try:
                for line in [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines():
                    json.loads(line)
            except ValueError:
                yield f"{path.name} is half"


COMMANDS = (
    ["plan", "model.onnx", "--measure", "0", "-o", "result.json"],
    ["profile", "model.onnx", "--fresh", "--duration", "1", "-o", "result.json"],
    ["run", "model.onnx", "--random", "4000", "-o", "result.jsonl"],
    ["bench", "model.onnx", "--duration", "1", "--rounds", "2", "--trace", "result.json"],
)


def run(trial, chance, number):
    words = COMMANDS[number % len(COMMANDS)]
    for result in trial.work.glob("result*"):
        result.unlink()
    command = trial.start(words)
    moment = chance.uniform(0, 3)
    if chance.random() < 0.8:  # else also before the board has heard of it
        while not processes_with(trial.mark) and command.poll() is None:
            time.sleep(0.01)
    way = chance.choice(("command", "connection", "silence"))
    time.sleep(moment)
    begin = time.monotonic()
    is_over = command.poll() is not None
    relays = trial.cut(command, way)
    left = trial.wait_until_nothing_stays()
    took = time.monotonic() - begin
    time.sleep(0.3)
    left += trial.what_stays()
    for relay in relays:
        try:
            os.kill(relay, signal.SIGKILL)
        except ProcessLookupError:
            pass
    _, errors = command.communicate(timeout=60)
    problems = [str(each) for each in left] + list(trial.half_results())
    told = errors.decode(errors="replace").strip().splitlines()[-1:]
    print(f"{number:3d} {words[0]:8s} {way:10s} after {moment:.2f} s{' (was over)' if is_over else ''}: "
          f"nothing left after {took:.2f} s, exit {command.returncode} {told}", flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millrace", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--source", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="millrace_cut_") as name:
        trial = Trial(Path(name), arguments)
        model = (arguments.source / "models" / "digits.onnx").read_bytes()
        (trial.work / "model.onnx").write_bytes(model)
        for number in range(arguments.times):
            if problems := run(trial, chance, number):
                print("\n".join(problems))
                return 1
        last = trial.start(["run", "model.onnx", "--random", "3", "-o", "last.jsonl"])
        _, errors = last.communicate(timeout=120)
        if last.returncode != 0 or len((trial.work / "last.jsonl").read_text().splitlines()) != 3:
            print(f"after all cuts a run fails: {errors.decode()}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
