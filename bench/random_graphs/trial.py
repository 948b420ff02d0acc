"""One random graph: made, computed by the command, and judged."""
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from .blocks import add_block
from .graph import Graph
from .operators import add_operator

SHAPES = ((1, 4, 6, 6), (1, 3, 8, 7), (2, 8, 5, 5), (1, 16, 9, 9), (1, 12, 10, 4), (1, 32, 7, 7),
          (2, 5, 12), (1, 7, 9), (3, 6), (1, 20), (4, 17), (1, 2, 4, 5, 6), (1, 1, 28, 28),
          (1, 24, 14, 14), (1, 64, 4, 4), (3, 2, 16), (5,))
LENGTHS = (1, 2, 3, 5, 8, 12)
BOUND = 1e-3  # of the largest value
FEW = 0.05  # so many numbers may differ where a rounding error makes another number
SECONDS = 20


def make(seed):
    """Every second graph has blocks around convolutions and products, the others single operators."""
    graph = Graph(seed)
    for _ in range(graph.random.choice([1, 1, 1, 2])):
        graph.input(graph.random.choice(SHAPES))
    for _ in range(graph.random.choice(LENGTHS)):
        is_block = seed % 2 == 1 and graph.random.random() < 0.75
        (add_block if is_block else add_operator)(graph)
    return graph


@dataclass
class Verdict:
    kind: str  # "right", "refused", "wrong", or "empty": nothing was compared
    text: str = ""


def difference(found, expected, jumps):
    """What is wrong, or nothing."""
    if found.shape not in (expected.shape, (1, *expected.shape)):  # frames come first
        return f"has the shape {list(found.shape)}, expected {list(expected.shape)}"
    if found.dtype != expected.dtype:
        return f"has the type {found.dtype}, expected {expected.dtype}"
    found, expected = (np.asarray(a, np.float64).reshape(-1) for a in (found, expected))
    scale = np.abs(expected).max()
    errors = np.abs(found - expected)
    is_wrong = ~(errors <= BOUND * scale)  # what is no number is wrong
    may_jump = jumps and np.isfinite(found).all() and is_wrong.sum() <= max(2, FEW * errors.size)
    if may_jump or not is_wrong.any():
        return ""
    return (f"differs by {np.nanmax(errors, initial=0):.3g} where the largest value is {scale:.3g}, in "
            f"{is_wrong.sum()} of {errors.size} numbers")


def run(command, folder, model, given):
    """Outputs by name, or the text of a refusal. `command`: the program and options for its run."""
    onnx.save(model, folder / "model.onnx")
    arguments = []
    for name, value in given.items():
        np.save(folder / f"{name}.npy", value)
        file = str(folder / f"{name}.npy")
        arguments += ["--input", f"{name}={file}" if len(given) > 1 else file]
    names = [output.name for output in model.graph.output]
    files = {name: folder / ("y.npy" if len(names) == 1 else f"y.{name}.npy") for name in names}
    for file in files.values():
        file.unlink(missing_ok=True)
    done = subprocess.run([command[0], "run", str(folder / "model.onnx"), *command[1:], *arguments,
                           "--no-cache", "--output", str(folder / "y.npy")], capture_output=True,
                          text=True, errors="replace", timeout=SECONDS)
    if done.returncode == 2:
        return done.stderr.strip()
    if done.returncode:
        raise RuntimeError(f"ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return {name: np.load(file) for name, file in files.items()}


def judge(command, graph, nodes, outputs, folder):
    model, given = graph.model(nodes, outputs)
    if not given or not outputs:
        return Verdict("empty")
    try:
        found = run(command, folder, model, given)
    except (RuntimeError, subprocess.TimeoutExpired, OSError, ValueError, EOFError) as error:
        return Verdict("wrong", str(error))
    if isinstance(found, str):
        return Verdict("refused", found)
    for name in outputs:
        text = difference(found[name], graph.values[name], name in graph.jumps)
        if text:
            return Verdict("wrong", f"'{name}' {text}")
    return Verdict("right")


def first_wrong(command, graph, folder):
    """The first value that is wrong, and the nodes that it needs; or nothing."""
    for name in (name for node in graph.nodes for name in node.output if name in graph.values):
        nodes = graph.up_to([name])
        verdict = judge(command, graph, nodes, [name], folder)
        if verdict.kind == "wrong":
            return nodes, [name], verdict
    return None


def described(node):
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    return f"{node.op_type} {attributes}" if attributes else node.op_type


def explained(command, graph, verdict, keep):
    """The smallest beginning of the graph that is wrong, stored in `keep` if that is a folder."""
    with tempfile.TemporaryDirectory() as folder:
        found = first_wrong(command, graph, Path(folder))
        nodes, outputs, text = found or (graph.up_to(graph.ends()), graph.ends(), verdict)
    lines = [text.text, *(f"  {described(node)}" for node in nodes)]
    if keep:
        place = keep / f"graph{graph.seed}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        model, given = graph.model(nodes, outputs)
        onnx.save(model, place / "model.onnx")
        for name, value in given.items():
            np.save(place / f"{name}.npy", value)
        for name in outputs:
            np.save(place / f"expected.{name}.npy", graph.values[name])
        lines.append(f"  kept: {place}")
    return "\n".join(lines)


def trial(command, seed, keep=None):
    graph = make(seed)
    outputs = graph.ends()
    with tempfile.TemporaryDirectory() as folder:
        verdict = judge(command, graph, graph.nodes, outputs, Path(folder))
    if verdict.kind == "wrong":
        verdict.text = explained(command, graph, verdict, keep)
    return verdict
