"""The answers of ONNX Runtime and of Millrace to the same random input, and how far they are apart."""
import json
import re
import subprocess
from dataclasses import dataclass

import numpy

from . import ranks
from .child import Failed

TOLERANCE = 1e-3
DIFFERS = 1  # the exit code of verify
UNUSED = -1  # in rows of an output that are not in use, see docs/methods/operators.md


def by_onnxruntime(model, arrays):
    """Name to array, of all outputs."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    taken = {given.name for given in session.get_inputs()}
    return dict(zip(names, session.run(names, {name: array for name, array in arrays.items()
                                               if name in taken})))


def operators_of(model):
    """The operators of a file, with those of graphs inside, sorted."""
    import onnx
    found = set()

    def collect(graph):
        for node in graph.node:
            found.add(node.op_type if node.domain in ("", "ai.onnx")
                      else f"{node.domain}.{node.op_type}")
            for attribute in node.attribute:
                for inner in [attribute.g, *attribute.graphs]:
                    collect(inner)
    loaded = onnx.load(str(model), load_external_data=False)
    collect(loaded.graph)
    for function in loaded.functions:
        collect(function)
    return sorted(found)


def _file_name(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def _store(arrays, folder):
    words = []
    for name, array in arrays.items():
        file = folder / f"input.{_file_name(name)}.npy"
        numpy.save(file, array[None])
        words += ["--input", f"{name}={file}"]
    return words


def _shapes(arrays):
    return [word for name, array in arrays.items() if array.shape
            for word in ("--shape", f"{name}={'x'.join(map(str, array.shape))}")]


def _frame(array, expected):
    """The only frame. A first dimension of 1 is the frame's own."""
    return array if array.ndim == expected.ndim else array[0]


def _call(command, seconds, told=(0,)):
    """What the command prints, if it ends with one of these codes; otherwise Failed with its last
    line."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"took more than {seconds} s") from None
    if done.returncode not in told:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Failed(lines[-1] if lines else f"ended with {done.returncode}")
    return done.stdout


def by_millrace(binary, model, arrays, expected, folder, seconds):
    """Name to array; Failed with what the program says."""
    output = folder / "output.npy"
    _call([binary, "run", model, "--processors", "core0", "--no-cache", *_shapes(arrays),
           *_store(arrays, folder), "--output", output], seconds)
    files = {name: folder / f"output.{name}.npy" for name in expected}
    if len(expected) == 1:
        files = {next(iter(expected)): output}
    return {name: _frame(numpy.load(file), expected[name]) for name, file in files.items()}


def verify(binary, model, arrays, folder, mappings, seconds):
    """The plan for all cores and random mappings, beside the reference engine; the largest error.
    Failed if one differs."""
    plan = folder / "verified.plan.json"
    _call([binary, "plan", model, "--measure", "0", "--no-cache", *_shapes(arrays), "-o", plan],
          seconds)
    report = _call([binary, "verify", plan, "--random-mappings", mappings, "--json",
                    *_store(arrays, folder)], seconds, told=(0, DIFFERS))
    plans = json.loads(report)["plans"]
    for one in plans:
        if not one["within_tolerance"] and not one["part_by_part"]:
            error = one["largest_error"]  # none: infinite
            raise Failed(f"differs from the reference by {error if error is None else f'{error:.1e}'}")
    return max(one["largest_error"] for one in plans)


@dataclass
class Difference:
    """The largest difference, divided by the largest value, of the worst output."""
    error: float
    trivial: list  # outputs that say nothing: all values equal, or not finite


def _fitted(found, expected):
    """The rows in use; None if the others hold anything."""
    if found.shape == expected.shape:
        return found
    if found.ndim != expected.ndim or any(a < b for a, b in zip(found.shape, expected.shape)):
        return None
    used = tuple(slice(0, size) for size in expected.shape)
    rest = numpy.ones(found.shape, bool)
    rest[used] = False
    return found[used] if bool((found[rest] == UNUSED).all()) else None


def _error(found, expected):
    if expected.size == 0:
        return 0.0
    if not numpy.issubdtype(expected.dtype, numpy.floating):
        return float((found != expected).any())
    found, expected = found.astype(numpy.float64), expected.astype(numpy.float64)
    finite = numpy.isfinite(expected)
    if not numpy.array_equal(finite, numpy.isfinite(found)):
        return float("inf")
    if not finite.any():
        return 0.0
    largest = numpy.abs(expected[finite]).max()
    return float(numpy.abs(found[finite] - expected[finite]).max() / (largest or 1.0))


def _is_trivial(expected):
    if expected.size < 2:
        return expected.size == 0
    values = expected.astype(numpy.float64)
    return not numpy.isfinite(values).all() or float(values.max() - values.min()) == 0.0


def _all_fitted(found, expected):
    fitted = {name: _fitted(found[name], array) for name, array in expected.items()}
    for name, array in fitted.items():
        if array is None:
            raise Failed(f"the output '{name}' has shape {list(found[name].shape)}, "
                         f"expected {list(expected[name].shape)}")
    return fitted


def compare(found, expected, ranked=False):
    """`ranked`: rows are detections, the best first; which of two equals is first is open."""
    found = _all_fitted(found, expected)
    if ranked:
        found = ranks.aligned(found, expected, TOLERANCE)
    worst = max(_error(found[name], array) for name, array in expected.items())
    return Difference(worst, [name for name, array in expected.items() if _is_trivial(array)])
