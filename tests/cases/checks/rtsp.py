"""Applications on RTSP cameras that are restarted, freeze, change their size, and whose clocks jump; and on many at once.

The long forms are not in the suite: `check troubled 100`, `check shares 24 5 600`.
"""
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

import live_camera
from rtsp_camera import FIELDS, Camera

live_camera.FIELDS = FIELDS


def make_reader(path, side="8"):
    live_camera.make_reader(path, side)


class Application:
    """`millrace run` on these cameras, with its lines as they come out."""

    def __init__(self, cameras, more=""):
        inputs = "".join(f'  - {{camera: "{camera.address()}", name: c{i}, watchdog_s: 0.6{more}}}\n'
                         for i, camera in enumerate(cameras))
        Path("live.yaml").write_text(f"format: 1\nnetwork: {{model: reader.onnx}}\ninput:\n{inputs}"
                                     "preprocess: {colours: grey}\npostprocess: {kind: raw}\n")
        self.said = open("said", "w")
        self.run = subprocess.Popen(["millrace", "run", "live.yaml", "--processors", "core0", "--no-cache", "--json"],
                                    stdout=subprocess.PIPE, stderr=self.said, text=True)
        self.lines, self.totals, self.resident_kib = [], None, []
        self.reading = threading.Thread(target=self.read, daemon=True)
        self.reading.start()

    def read(self):
        for text in self.run.stdout:
            line = json.loads(text)
            if "kind" in line:
                self.totals = line
                continue
            line["shows"], line["out_s"] = live_camera.number_in(line), time.monotonic()
            self.lines.append(line)

    def wait_for(self, more, patience=60.0):
        """For so many lines more."""
        wanted, end = len(self.lines) + more, time.monotonic() + patience
        while len(self.lines) < wanted and time.monotonic() < end and self.run.poll() is None:
            time.sleep(0.01)
        if len(self.lines) < wanted:
            raise SystemExit(f"only {len(self.lines)} lines, expected {wanted}: {Path('said').read_text()}")

    def look_at_memory(self):
        status = Path(f"/proc/{self.run.pid}/status").read_text()
        self.resident_kib.append(int(re.search(r"VmRSS:\s+(\d+)", status).group(1)))

    def end(self):
        self.run.send_signal(signal.SIGINT)
        self.run.wait(30)
        self.reading.join(5)
        self.said.close()
        return Path("said").read_text()


def rises(numbers):
    return all(before < after for before, after in zip(numbers, numbers[1:]))


def troubled(restarts="5"):
    """Each trouble is followed by pictures again."""
    camera = Camera(20)
    run = Application([camera])
    run.wait_for(10)
    for i in range(int(restarts)):
        camera.restart()
        run.wait_for(3)
        if i >= int(restarts) // 4:
            run.look_at_memory()
    camera.restart(1.0)
    run.wait_for(3)
    camera.frozen = True
    time.sleep(2.5)
    camera.frozen = False
    run.wait_for(3)
    before = run.lines[-1]["width"]
    camera.cells = 2
    run.wait_for(10)
    after = run.lines[-1]["width"]
    for jump in (5, -5, 3600, -3600, -0.5):
        camera.shift += jump
        run.wait_for(5)
    said = run.end()
    camera.end()
    gaps = [line["gap_ms"] for line in run.lines if "gap_ms" in line]
    counted = int(re.search(r"the camera was (\d+) times without pictures", said).group(1))
    print(f"no picture twice: {rises([line['shows'] for line in run.lines]) and rises([line['frame'] for line in run.lines])}, "
          f"sizes: {before} {after}, gaps said: {len(gaps) >= int(restarts) + 2 and counted == len(gaps)}, "
          f"longest above 2 s: {max(gaps) > 2000}, memory flat: {run.resident_kib[-1] - run.resident_kib[0] < 4096}")
    print(f"{len(gaps)} gaps, {counted} said, {len(run.lines)} lines; resident {run.resident_kib[0]} to {run.resident_kib[-1]} KiB", file=sys.stderr)
    print(said, file=sys.stderr)


def is_counted(lines):
    """Numbers of frames and of what they show go on together, but for pictures of a gap, which is said."""
    apart = [line["shows"] - line["frame"] for line in lines]
    return all(before == after or ("gap_ms" in line and before < after) for before, after, line in zip(apart, apart[1:], lines[1:]))


def shares(sources="24", per_second="5", seconds="8"):
    """None is lost uncounted: the frame numbers of an input are those of its pictures; and all have the same share."""
    cameras = [Camera(float(per_second)) for _ in range(int(sources))]
    run = Application(cameras)
    run.wait_for(3 * len(cameras))
    begin = len(run.lines)
    run.look_at_memory()
    time.sleep(float(seconds))
    run.look_at_memory()
    end = len(run.lines)
    said = run.end()
    of_input, whole = defaultdict(list), defaultdict(int)
    for line in run.lines:
        of_input[line["input"]].append(line)
    for line in run.lines[begin:end]:
        whole[line["input"]] += 1
    counted = all(is_counted(lines) for lines in of_input.values())
    shown = all(rises([line["shows"] for line in lines]) for lines in of_input.values())
    totals = {each["name"]: each for each in run.totals["inputs"]}
    left = [totals[name]["live"]["arrived"] - totals[name]["live"]["dropped"] - len(lines) for name, lines in of_input.items()]
    kept = all(each in (0, 1) for each in left)  # one may wait at the end
    counts = [whole[name] for name in totals]
    unfair = max(counts) - min(counts)
    print(f"inputs: {len(of_input)}, counted: {counted and shown and kept}, "
          f"fair: {unfair <= max(1, 0.05 * sum(counts) / len(counts))}")
    print(f"{min(counts)} to {max(counts)} frames of each input, {sum(counts) / float(seconds):.1f} frames/s; "
          f"resident {run.resident_kib[0]} to {run.resident_kib[-1]} KiB", file=sys.stderr)
    print(said[-2000:], file=sys.stderr)
    for camera in cameras:
        camera.end()
