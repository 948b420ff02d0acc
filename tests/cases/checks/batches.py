"""Networks that take several pictures at once, for the cases of applications."""

import struct
from pathlib import Path

from onnx_writer import INT64, graph_of, model_of, node, tensor, value


def sums_model(batch, path, joined=False):
    """Sums of parts of a grey picture of 8 x 8, for a batch; joined: in one row for all of them."""
    numbers = [((i * 37 + j * 11) % 13 - 6) / 8 for i in range(64) for j in range(10)]
    constants = [tensor("w", [64, 10], struct.pack("<640f", *numbers)),
                 tensor("flat", [2], struct.pack("<2q", batch, 64), INT64),
                 tensor("row", [2], struct.pack("<2q", 1, batch * 10), INT64)]
    nodes = [node("Reshape", ["image", "flat"], ["x"]), node("MatMul", ["x", "w"], ["sums"])]
    shape = [batch, 10]
    if joined:
        nodes += [node("Reshape", ["sums", "row"], ["all"])]
        shape = [1, batch * 10]
    graph = graph_of(nodes, [value("image", [batch, 1, 8, 8])],
                     [value("all" if joined else "sums", shape)], constants)
    Path(path).write_bytes(model_of(graph))


def batch_models():
    sums_model(1, "one.onnx")
    sums_model(5, "five.onnx")
    sums_model(5, "joined.onnx", joined=True)
