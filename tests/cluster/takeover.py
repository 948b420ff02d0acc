#!/usr/bin/env python3
"""Boards that are lost while a plan runs: the plan prepared for the others takes over, and no frame is lost.

  takeover.py --millrace PATH --source PROJECT_FOLDER
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workers import workers_of

LIMIT = 2  # seconds that a board may be silent
FRAMES = 2000
BOARDS = ("second", "third")


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


def wait_for_frames(out):
    """Until results are written: the run has left its start behind."""
    until = time.time() + 30
    while time.time() < until:
        written = [file.stat().st_size for file in out.parent.glob(out.name + "*") if file.exists()]
        if written and max(written) > 0:
            return
        time.sleep(0.01)


def run_with_losses(options, folder, losses):
    """Sends each board's workers its signal, one after the other; the run, its notes and its lines."""
    out = folder / "out.jsonl"
    for file in folder.glob("out.jsonl*"):
        file.unlink()
    command = [options.millrace, "run", "boards.plan.json", "--engine-option", "cluster.file=boards.yaml",
               "--engine-option", f"cluster.answer_s={LIMIT}", "--random", str(FRAMES), "-o", "out.jsonl"]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stopped = []
    wait_for_frames(out)
    # Found before the first one goes: the run may be over a moment later.
    for worker, number in [(worker, number) for board, number in losses for worker in workers_of(run.pid, board)]:
        os.kill(worker, number)
        stopped.append(worker)
    try:
        _, error = run.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        run.kill()
        _, error = run.communicate()
        check("a run hangs", False)
    for worker in stopped:
        try:
            os.kill(worker, signal.SIGKILL)
        except OSError:
            pass
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return run.returncode, error, lines, len(stopped)


def values_of(lines):
    return [line["outputs"]["probabilities"]["values"] for line in lines]


def use_usual_variants(folder):
    """A board's worker runs layers in its usual variants; if the cores do so too, all plans give the same bits."""
    file = folder / "boards.plan.json"
    document = json.loads(file.read_text())
    for each in [document, *(takeover["plan"] for takeover in document["takeovers"])]:
        each.pop("variants", None)
    file.write_text(json.dumps(document))


def outlives(options, folder, losses, wanted):
    code, error, lines, lost = run_with_losses(options, folder, losses)
    words = ", ".join(f"{board} {'killed' if number == signal.SIGKILL else 'stalled'}" for board, number in losses)
    notes = [line for line in error.splitlines() if "takes over" in line]
    for note in notes:
        print("     ", note)
    good = check(f"{words}: {lost} workers, exit {code}, {len(lines)} frames", code == 0 and len(lines) == FRAMES
                 and lost == len(losses) and [line["frame"] for line in lines] == list(range(FRAMES)))
    told = all("frames are done" in note and "none is lost" in note for note in notes)
    left = [f"{board}." for board, _ in losses if f"{board}." in notes[-1].split("from frame")[-1]] if notes else ["all"]
    good &= check("what takes over is told, with the boards and the frames, and uses none that is lost",
                  told and not left and any(f"the board {board} is lost" in notes[0] for board, _ in losses))
    if len(losses) == 1:
        good &= check("no board but the lost one is given up", all("so is another" not in note for note in notes))
    values = values_of(lines)
    others = [frame for frame, (one, other) in enumerate(zip(values, wanted)) if one != other]
    return check(f"the results are those of a run without losses, bit for bit; others: {FRAMES - len(values)} missing, "
                 f"frames {others[:9]}", len(values) == len(wanted) and not others) and good


def plan(options, folder, on_loss, engines="onednn,cluster"):
    worker = str(Path(options.millrace).with_name("millrace-worker"))
    boards = "".join(f"  - {{name: {name}, reach: env BOARD={name}, worker: {worker}}}\n" for name in BOARDS)
    (folder / "boards.yaml").write_text(f"format: 1\nname: boards\n{on_loss}boards:\n{boards}")
    return subprocess.run(
        [options.millrace, "plan", str(Path(options.source).resolve() / "models" / "digits.onnx"), "--engine",
         engines, "--engine-option", "cluster.file=boards.yaml", "--devices", "core0,second.core0,third.core0",
         "--cut-points", "relu2,relu3", "--measure", "0", "--no-cache", "-o", "boards.plan.json"],
        cwd=folder, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True)
    options = parser.parse_args()
    options.millrace = str(Path(options.millrace).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong = plan(options, folder, "on_loss: replay\n")
        good = check("a wrong word is refused with its place",
                     wrong.returncode == 3 and "boards.yaml: line 3" in wrong.stderr and "found 'replay', expected replan or end"
                     in wrong.stderr)
        planned = plan(options, folder, "on_loss: replan\n")
        said = re.findall(r"without (.*) a plan on (.*) takes over: [0-9.]+ frames/s predicted", planned.stderr)
        good &= check(f"planned: {said}", planned.returncode == 0 and len(said) == 3)
        if not good:
            print(wrong.stderr, planned.stdout, planned.stderr)
            return 1
        takeovers = json.loads((folder / "boards.plan.json").read_text())["takeovers"]
        good &= check("the file has a plan for each loss",
                      [each["without"] for each in takeovers] == [["second"], ["third"], ["second", "third"]])
        use_usual_variants(folder)
        code, error, lines, _ = run_with_losses(options, folder, [])
        good &= check(f"a run without losses: exit {code}, {len(lines)} frames", code == 0 and len(lines) == FRAMES) or bool(print(error))
        wanted = values_of(lines)
        kill, stall = signal.SIGKILL, signal.SIGSTOP
        for losses in ([("second", kill)], [("third", stall)], [("third", kill), ("second", kill)]):
            good &= outlives(options, folder, losses, wanted)
        # What takes over may name other engines than the first plan.
        planned = plan(options, folder, "on_loss: replan\n", "onednn,reference@cpu,cluster")
        good &= check("planned with three engines", planned.returncode == 0)
        use_usual_variants(folder)
        good &= outlives(options, folder, [("second", kill)], wanted)
    return 0 if good else 1


sys.exit(main())
