"""Exports one variant of one architecture."""
import importlib
import inspect
import os
import tempfile
import warnings
from pathlib import Path

SEED = 1
FRAME_SEED = 7  # of the frames that are compared


def batch_of(variant):
    """Networks of variable batch are tried with two frames at once."""
    return 2 if variant["batch"] == "dynamic" else 1


def _example(entry):
    """A function that gives random arguments, two frames at once: single values have no variance.
    The first are those that are compared, so that no statistics are far from theirs."""
    import torch
    from . import inputs
    seeds = iter([FRAME_SEED, *range(100, 200)])
    return lambda: tuple(torch.from_numpy(array)
                         for array in inputs.arrays(entry, 2, next(seeds)).values())


def _with_torchscript(model, arguments, entry, variant, file):
    import torch
    names = list(entry["inputs"])
    axes = {name: {0: "batch"} for name in names} if variant["batch"] == "dynamic" else None
    torch.onnx.export(model, arguments, str(file), dynamo=False, input_names=names,
                      opset_version=variant["opset"], dynamic_axes=axes)


def _with_dynamo(model, arguments, entry, variant, file):
    import torch
    names = list(entry["inputs"])
    shapes = None
    if variant["batch"] == "dynamic":
        shapes = tuple({0: torch.export.Dim("batch", min=1, max=64)} for _ in names)
        if any(given.kind == given.VAR_POSITIONAL
               for given in inspect.signature(model.forward).parameters.values()):
            shapes = (shapes,)
    torch.onnx.export(model, arguments, str(file), dynamo=True, external_data=False,
                      input_names=names, opset_version=variant["opset"], dynamic_shapes=shapes)


def _export(entry, variant, file):
    """A maker gives a model to export, or exports by itself."""
    import torch
    from . import inputs, weights
    maker = importlib.import_module(f"deployed.makers.{entry['maker']}")
    torch.manual_seed(SEED)
    if hasattr(maker, "export"):
        maker.export(entry, variant, file, _example(entry))
        return
    fused = {"fused": True} if variant["opset"] >= 23 else {}
    model = weights.prepare(maker.make(**entry["arguments"], **fused), _example(entry),
                            getattr(maker, "SCORES", ()))
    arguments = tuple(torch.from_numpy(array)
                      for array in inputs.arrays(entry, batch_of(variant), SEED).values())
    ways = {"torchscript": _with_torchscript, "dynamo": _with_dynamo}
    with torch.no_grad():
        ways[variant["exporter"]](model, arguments, entry, variant, file)


def _simplify(file):
    import onnx
    import onnxsim
    simplified, same = onnxsim.simplify(onnx.load(file))
    if not same:
        raise RuntimeError("onnxsim changed the answers")
    onnx.save(simplified, file)


def export(entry, variant, file):
    """Writes the file. Changes the folder and the random numbers of the process."""
    import torch
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # it has no form in ONNX
    part = Path(file).resolve().with_suffix(".part")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _export(entry, variant, part)
        os.chdir("/")
    if variant["simplified"]:
        _simplify(str(part))
    part.rename(file)
