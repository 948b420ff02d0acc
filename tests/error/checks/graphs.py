"""Writes the models of graphs.case; see run_check.py."""

import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "cases" / "checks"))
from onnx_writer import BOOL, INT64, graph_of, model_of, node, tensor, value  # noqa: E402


def write(name, graph):
    Path(name).write_bytes(model_of(graph))


def undecided_loop():
    body = graph_of([node("Identity", ["go"], ["on"]), node("Relu", ["last"], ["next"])],
                    [value("i", [], INT64), value("go", [], BOOL), value("last", [4])],
                    [value("on", [], BOOL), value("next", [4])])
    loop = node("Loop", ["times", "", "x"], ["y"], body=body)
    write("loop.onnx", graph_of([loop], [value("x", [4]), value("times", [1], INT64)],
                                [value("y", [4])]))


def einsum():
    product = node("Einsum", ["a", "b"], ["y"], equation="...ij,...jk->...ik")
    write("einsum.onnx", graph_of([product], [value("a", [2, 3, 4, 5]), value("b", [7, 5, 6])],
                                  [value("y", [2, 7, 4, 6])]))


def lstm():
    """With lengths that come with the frame."""
    layer = node("LSTM", ["x", "w", "r", "", "lengths"], ["y"], hidden_size=2)
    zeros = struct.pack("<24f", *[0] * 24)
    write("lstm.onnx", graph_of(
        [layer], [value("x", [5, 1, 3]), value("lengths", [1], 6)], [value("y", [5, 1, 1, 2])],
        [tensor("w", [1, 8, 3], zeros), tensor("r", [1, 8, 2], zeros[:64])]))
