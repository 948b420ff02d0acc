"""Writes small ONNX files without a library: messages of protobuf, field by field."""

import struct

FLOAT, INT64 = 1, 7
BOOL = 9
INT, STRING, GRAPH, INTS = 2, 3, 5, 7  # types of attributes


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def whole(field, number):
    return varint(field << 3) + varint(number)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, shape, raw, kind=FLOAT):
    dims = b"".join(whole(1, size) for size in shape)
    return dims + whole(2, kind) + message(8, name) + message(9, raw)


def value(name, shape, kind=FLOAT):
    dims = b"".join(message(1, whole(1, size)) for size in shape)
    return message(1, name) + message(2, message(1, whole(1, kind) + message(2, dims)))


def attribute(name, number):
    """A number, several, a text, or a graph in bytes."""
    if isinstance(number, int):
        return message(1, name) + whole(3, number) + whole(20, INT)
    if isinstance(number, str):
        return message(1, name) + message(4, number) + whole(20, STRING)
    if isinstance(number, bytes):
        return message(1, name) + message(6, number) + whole(20, GRAPH)
    return message(1, name) + b"".join(whole(8, n) for n in number) + whole(20, INTS)


def node(kind, inputs, outputs, **attributes):
    out = b"".join(message(1, name) for name in inputs)
    out += b"".join(message(2, name) for name in outputs) + message(4, kind)
    return out + b"".join(message(5, attribute(*each)) for each in attributes.items())


def graph_of(nodes, inputs, outputs, constants=()):
    """All of them as messages: node(), value() and tensor()."""
    graph = b"".join(message(1, each) for each in nodes) + message(2, "made")
    graph += b"".join(message(5, each) for each in constants)
    graph += b"".join(message(11, each) for each in inputs)
    return graph + b"".join(message(12, each) for each in outputs)


def model_of(graph, opset=17):
    return whole(1, 8) + message(7, graph) + message(8, message(1, "") + whole(2, opset))


def model_of_outputs(size, outputs, metadata):
    """A model that gives these outputs (name, shape, floats) for every picture of that size."""
    width, height = size
    zero = struct.pack("<f", 0)
    graph = message(1, node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=1))
    graph += message(1, node("Mul", ["mean", "zero"], ["nothing"]))
    graph += message(5, tensor("zero", [1], zero))
    graph += message(11, value("image", [1, 3, height, width]))
    for name, shape, floats in outputs:
        rank = struct.pack(f"<{len(shape)}q", *[1] * len(shape))
        graph += message(5, tensor(name + "_rank", [len(shape)], rank, INT64))
        graph += message(5, tensor(name + "_values", shape, floats))
        graph += message(1, node("Reshape", ["nothing", name + "_rank"], [name + "_zero"]))
        graph += message(1, node("Add", [name + "_zero", name + "_values"], [name]))
        graph += message(12, value(name, shape))
    graph += message(2, "made")
    entries = b"".join(message(14, message(1, k) + message(2, v)) for k, v in metadata.items())
    return whole(1, 8) + message(7, graph) + message(8, message(1, "") + whole(2, 13)) + entries
