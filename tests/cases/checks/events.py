"""Groups whose frames come late, in bursts and when they like, and releases of a file. See run_check.py."""
import json
import subprocess
from pathlib import Path

from onnx_writer import graph_of, model_of, node, value

SYSTEM = """format: 1
groups:
  - {name: camera, model: relu.onnx, rate_fps: 50, jitter_ms: 4, min_distance_ms: 17}
  - {name: lidar, model: relu.onnx, period_ms: 200, burst: 3, burst_distance_ms: 20, offset_ms: 5}
  - {name: button, model: relu.onnx, period_ms: 100, sporadic: true, deadline_ms: 50}
"""
DEPLOYMENT = "events.deployment.json"
RECORDED_MS = [100, 150, 420, 421, 600]


def make_system():
    graph = graph_of([node("Relu", ["x"], ["y"])], [value("x", [1, 64])], [value("y", [1, 64])], [])
    Path("relu.onnx").write_bytes(model_of(graph, 13))
    Path("events.yaml").write_text(SYSTEM)
    Path("recorded.txt").write_text("".join(f"{at / 1000} camera  # came\n" for at in RECORDED_MS))


def millrace(*words):
    done = subprocess.run(["millrace", *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def frames_of(report):
    return {group["group"]: group["frames"]["due"] for group in report["groups"]}


def released_ms(trace, group):
    events = json.loads(Path(trace).read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    return sorted(event["ts"] / 1000 for event in events
                  if event.get("cat") == "frame" and event["ph"] == "b" and processes[event["pid"]] == f"frames of {group}")


def arrivals(verb):
    """As the events say, from a seed."""
    words = [verb, DEPLOYMENT, "--duration", "2s", "--seed", "3", "--json"] + (["--scenario", "all"] if verb == "run" else [])
    due = frames_of(millrace(*words))
    print(f"camera {99 <= due['camera'] <= 101}, lidar {29 <= due['lidar'] <= 31}, button {9 <= due['button'] <= 20}")


def recorded(verb):
    """Exactly those of the file, and the others as their events say."""
    words = [verb, DEPLOYMENT, "--duration", "1s", "--releases", "recorded.txt", "--trace", f"{verb}.json", "--json"]
    due = frames_of(millrace(*words, *(["--scenario", "all"] if verb == "run" else ["--set", "drive.transitions=0"])))
    came = released_ms(f"{verb}.json", "camera")
    away = max(abs(at - expected) for at, expected in zip(came, RECORDED_MS))
    most = 20 if verb == "run" else 0  # the release thread may be late, and its trace begins a little earlier
    print(f"{due['camera']} due, {len(came)} came, at their times: {away <= most}, lidar {due['lidar'] in (15, 16)}")


def again():
    """A trace of a run is a record."""
    due = frames_of(millrace("simulate", DEPLOYMENT, "--duration", "1s", "--releases", "run.json",
                             "--set", "drive.transitions=0", "--json"))
    print(f"camera {due['camera']}, lidar {due['lidar'] in (15, 16)}")


def bounds():
    answers, = millrace("analyze", DEPLOYMENT, "--releases", "recorded.txt", "--json")["operations"]
    print([(group["group"], group["bound_ms"] is not None) for group in answers["groups"]])
