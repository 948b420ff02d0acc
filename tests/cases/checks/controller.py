"""A run of a deployment that is killed, and the next one, which goes on where it was. See run_check.py."""
import json
import signal
import subprocess
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
