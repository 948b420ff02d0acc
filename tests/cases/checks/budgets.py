"""Groups with a budget, and one that comes at any time. See run_check.py."""
import json
import subprocess
from pathlib import Path

from onnx_writer import graph_of, model_of, node, value

SYSTEM = """format: 1
groups:
  - {name: camera, model: relu.onnx, period_ms: 200, burst: 4, preprocess_ms: 10, deadline_ms: 450, priority: 1, budget_ms: 36, budget_every_ms: 100}
  - {name: planner, model: relu.onnx, rate_fps: 20, priority: 2, budget_ms: 5}
  - {name: button, model: relu.onnx, rate_fps: 100, priority: 3, aperiodic: true, budget_ms: 40, budget_every_ms: 100, postprocess_ms: 5}
"""
DEPLOYMENT = "budgets.deployment.json"


def make_system():
    graph = graph_of([node("Relu", ["x"], ["y"])], [value("x", [1, 64])], [value("y", [1, 64])], [])
    Path("relu.onnx").write_bytes(model_of(graph, 13))
    Path("budgets.yaml").write_text(SYSTEM)


def millrace(*words):
    done = subprocess.run(["millrace", *words], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def bounds():
    """A camera's last frames wait for the next window."""
    operation, = millrace("analyze", DEPLOYMENT, "--json")["operations"]
    held = {group["group"]: group["held_ms"] for group in operation["groups"]}
    print(f"camera waits {held['camera'] == 100}, planner {held['planner']}, button {held['button']}")


def held(verb):
    words = [verb, DEPLOYMENT, "--duration", "1s", "--seed", "3", "--json"]
    words += ["--scenario", "all"] if verb == "run" else ["--set", "drive.transitions=0"]
    frames = {group["group"]: group["frames"] for group in millrace(*words)["groups"]}
    camera, planner, button = frames["camera"], frames["planner"], frames["button"]
    of_camera = camera["due"] in (20, 24) and 4 <= camera["held"] <= 12 and 95 <= camera["longest_held_ms"] <= 105
    of_button = 80 <= button["due"] and 40 <= button["released"] <= 80 and button["held"] > 30
    print(f"camera {of_camera}, planner {planner['held'] == 0}, button {of_button}")
