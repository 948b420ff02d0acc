"""Groups of 5, 20 and 100 Hz that read each other: how old what comes out is, beside its bounds. See run_check.py.

The long form is not in the suite: `check make_chain` and `check chain_holds 60`.
"""
import json
import re
import subprocess
from pathlib import Path

from onnx_writer import graph_of, model_of, node, value

SYSTEM = """format: 1
groups:
  - {name: camera, model: relu.onnx, rate_fps: 5}
  - {name: tracker, model: relu.onnx, rate_fps: 20}
  - {name: motor, model: relu.onnx, rate_fps: 100}
edges:
  - {from: camera, to: tracker}
  - {from: tracker, to: motor, read: last}
chains:
  - {name: steering, groups: [camera, tracker, motor], reaction_ms: LIMIT}
"""


def make_chain(limit="600"):
    graph = graph_of([node("Relu", ["x"], ["y"])], [value("x", [1, 64])], [value("y", [1, 64])], [])
    Path("relu.onnx").write_bytes(model_of(graph, 13))
    Path("chain.yaml").write_text(SYSTEM.replace("LIMIT", limit))


def millrace(*words):
    done = subprocess.run(["millrace", *words], capture_output=True, text=True)
    return done.returncode, done.stdout


def chain_holds(seconds="4"):
    """And the largest ones are at least half of their bounds."""
    _, out = millrace("run", "chain.deployment.json", "--scenario", "all", "--duration", f"{seconds}s", "--json")
    chain, = json.loads(out)["chains"]
    frames = chain["frames"] > 90 * float(seconds)
    age, reaction = chain["age_max_ms"] / chain["age_bound_ms"], chain["reaction_max_ms"] / chain["reaction_bound_ms"]
    print(f"frames: {frames}, within: {age <= 1 and reaction <= 1}, at least half: {age >= 0.5 and reaction >= 0.5}")
    print(chain)


def bounds():
    code, out = millrace("analyze", "chain.deployment.json", "--json")
    operation, = json.loads(out)["operations"]
    chain, = operation["chains"]
    print(f"exit {code}, age {chain['age_ms'] >= 250}, reaction {chain['reaction_ms'] >= 260}, limit {chain['reaction_limit_ms']:g}")
    print(operation["reason"])


def parts_add_up(page):
    """Of the chain in the page's data."""
    data = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', Path(page).read_text(), re.S).group(1)
    part, = json.loads(data)["parts"]
    chain, = part["facts"]["analysis"]["operations"][0]["chains"]
    gaps, works = ([one[key] for one in chain["parts"]] for key in ("gap_ms", "response_ms"))
    reaction, age = sum(gaps) + sum(works), sum(gaps[:-1]) + sum(works)
    print(", ".join(one["group"] for one in chain["parts"]) +
          f": reaction {abs(reaction / chain['reaction_ms'] - 1) < 1e-4}, age {abs(age / chain['age_ms'] - 1) < 1e-4}")
