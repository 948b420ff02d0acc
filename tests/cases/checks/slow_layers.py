"""Writes the model of slow_layers.case; see run_check.py."""

import struct
from pathlib import Path

from onnx_writer import INT64, graph_of, model_of, node, tensor, value


def plain_loops():
    best = node("TopK", ["x", "count"], ["values", "indices"])
    graph = graph_of([best], [value("x", [400, 100])],
                     [value("values", [400, 7]), value("indices", [400, 7], INT64)],
                     [tensor("count", [1], struct.pack("<q", 7), INT64)])
    Path("loops.onnx").write_bytes(model_of(graph))
