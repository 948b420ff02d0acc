"""A run of a deployment that is killed, and the next one, which goes on where it was. See run_check.py."""
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from onnx_writer import graph_of, model_of, node, value

SYSTEM = """format: 1
levels: 2
groups:
  - {name: camera, model: relu.onnx, rate_fps: [20, 50]}
scenarios:
  - {name: idle, groups: [camera]}
  - {name: on the road, groups: [camera]}
"""
RUN = ["millrace", "run", "taken.deployment.json", "--set", "drive.state-file=state", "--json"]


def make_system():
    graph = graph_of([node("Relu", ["x"], ["y"])], [value("x", [1, 64])], [value("y", [1, 64])], [])
    Path("relu.onnx").write_bytes(model_of(graph, 13))
    Path("taken.yaml").write_text(SYSTEM)


def wait_for(state, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if Path("state").exists() and Path("state").read_text() == state:
            return True
        time.sleep(0.02)
    return False


def killed():
    """It enters the second scenario by a file, and is killed there."""
    Path("wanted").write_text("on the road 0\n")
    with subprocess.Popen([*RUN, "--set", "drive.scenario-file=wanted", "--duration", "60s"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        print("state", wait_for("on the road 0\n"))
        run.send_signal(signal.SIGKILL)
    print("killed", run.returncode == -signal.SIGKILL, Path("state").read_text().strip())


def taken_over():
    """Asked for the first scenario, it begins in the one of the state."""
    done = subprocess.run([*RUN, "--scenario", "idle", "--duration", "1s"], capture_output=True, text=True, check=True)
    group, = json.loads(done.stdout)["groups"]
    print([(part["scenario"], part["level"]) for part in group["parts"]], 19 <= group["frames"]["due"] <= 22)


SLOW = """format: 1
groups:
  - {name: map, model: relu.onnx, rate_fps: 10}
scenarios:
  - {name: idle, groups: [map]}
  - {name: on the road, groups: [map]}
"""


def restarted():
    """From the begin of the next process to its first release. Others of this machine may take its cores once."""
    Path("slow.yaml").write_text(SLOW)
    subprocess.run(["millrace", "plan", "slow.yaml", "--samples", "20"], capture_output=True, check=True)
    run = ["millrace", "run", "slow.deployment.json", "--set", "drive.state-file=state", "--json"]
    killed_runs, starts = 0, []
    for _ in range(3):
        Path("state").unlink(missing_ok=True)
        with subprocess.Popen([*run, "--scenario", "on the road", "--duration", "60s"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            wait_for("on the road 0\n")
            first.send_signal(signal.SIGKILL)
        killed_runs += first.returncode == -signal.SIGKILL
        done = subprocess.run([*run, "--scenario", "idle", "--duration", "0.3s"], capture_output=True, text=True,
                              check=True)
        report = json.loads(done.stdout)
        taken_over = report["groups"][0]["parts"][0]["scenario"] == "on the road"
        starts.append(report["start_ms"] if taken_over else float("inf"))
    print(f"{killed_runs} killed, the quickest begins again within 100 ms: {min(starts) <= 100}")
    print(starts, file=sys.stderr)
