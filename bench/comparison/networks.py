"""Networks as files that all peers can read, and the frames that all of them are asked about."""
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import onnx
from google.protobuf.message import DecodeError

from .failed import Failed, last_line

NUMPY_TYPES = {onnx.TensorProto.FLOAT: numpy.float32, onnx.TensorProto.INT64: numpy.int64,
               onnx.TensorProto.INT32: numpy.int32, onnx.TensorProto.UINT8: numpy.uint8,
               onnx.TensorProto.INT8: numpy.int8}


@dataclass
class Network:
    name: str
    models: dict  # batch size to ONNX file
    frames: Path  # .npz: for each input the frames along its first dimension
    inputs: dict = field(default_factory=dict)  # input to the .npy file with the same
    weights: list = field(default_factory=list)  # what asks for random ones, if it has none


def zoo(millrace):
    """The names that `millrace zoo` lists."""
    done = subprocess.run([millrace, "zoo"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()[2:] if line.strip()]


def _model_file(name, millrace, folder):
    if Path(name).is_file():
        return Path(name)
    path = folder / f"{name}.onnx"
    newest = Path(millrace).stat().st_mtime
    if path.exists() and path.stat().st_mtime > newest:
        return path
    done = subprocess.run([millrace, "zoo", name, "-o", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(last_line(done.stderr))
    return path


def graph_inputs(model):
    constants = {constant.name for constant in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def _dimensions(value):
    return value.type.tensor_type.shape.dim


def with_batch(original, batch):
    """A copy with the first dimension of every input fixed; the shapes that followed from the old
    one are forgotten."""
    model = onnx.ModelProto()
    model.CopyFrom(original)
    for value in graph_inputs(model):
        _dimensions(value)[0].dim_value = batch
    for value in model.graph.output:
        for dimension in _dimensions(value):
            dimension.Clear()
    del model.graph.value_info[:]
    constants = {constant.name: constant for constant in model.graph.initializer}
    for node in model.graph.node:
        shape = constants.get(node.input[1]) if node.op_type == "Reshape" else None
        if shape is not None:
            target = onnx.numpy_helper.to_array(shape).copy()
            if target[0] == 1:
                target[0] = batch
                shape.CopyFrom(onnx.numpy_helper.from_array(target, shape.name))
    return model


def frame_shape(value):
    """Of one frame, the batch dimension left out."""
    rest = _dimensions(value)[1:]
    if not _dimensions(value) or not all(dimension.dim_value > 0 for dimension in rest):
        raise Failed(f"the input '{value.name}' has no fixed shape; only the first dimension, "
                     "the batch, may be open")
    return [dimension.dim_value for dimension in rest]


def random_frames(model, count, seed):
    """Input to array. Numbers are spread like those of a normalised image."""
    chance = numpy.random.default_rng(seed)
    frames = {}
    for value in graph_inputs(model):
        kind = NUMPY_TYPES.get(value.type.tensor_type.elem_type)
        if kind is None:
            raise Failed(f"the input '{value.name}' holds neither float32 nor whole numbers")
        shape = (count, *frame_shape(value))
        frames[value.name] = (chance.standard_normal(shape, kind) if kind is numpy.float32
                              else chance.integers(0, 100, shape).astype(kind))
    return frames


def prepare(name, options):
    """options: millrace, folder, batch, frames, seed."""
    path = _model_file(name, options.millrace, options.folder)
    try:
        model = onnx.load(path)
    except (DecodeError, OSError) as reason:
        raise Failed(f"cannot be read as ONNX: {reason}") from None
    network = Network(path.stem, {}, options.folder / f"{path.stem}.frames.npz")
    if not Path(name).is_file():
        network.weights = ["--weights", "random"]
    frames = random_frames(model, options.frames, options.seed)
    numpy.savez(network.frames, **frames)
    for i, (tensor, values) in enumerate(frames.items()):
        network.inputs[tensor] = options.folder / f"{path.stem}.input{i}.npy"
        numpy.save(network.inputs[tensor], values)
    fixed = {_dimensions(value)[0].dim_value for value in graph_inputs(model)}
    for batch in sorted({1, *options.batch}):
        network.models[batch] = path
        if fixed != {batch}:
            network.models[batch] = options.folder / f"{path.stem}.batch{batch}.onnx"
            onnx.save(with_batch(model, batch), network.models[batch])
    return network
