"""A graph that grows node by node. ONNX Runtime computes each node alone, without optimisations: its
values are what the whole graph must give, and a node that it refuses is none."""
import random
from dataclasses import dataclass, field

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)

OPSETS = (11, 13, 14, 17, 18, 19, 20, 21, 22)
MOST_ELEMENTS, MOST_DIMENSIONS, LEAST, LARGEST = 60000, 6, 1e-2, 1e4
TYPES = {np.dtype(name): getattr(TensorProto, kind) for name, kind in (
    ("float32", "FLOAT"), ("int64", "INT64"), ("int32", "INT32"), ("bool", "BOOL"),
    ("uint8", "UINT8"), ("int8", "INT8"), ("float16", "FLOAT16"))}


def answers_of(model, outputs, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(outputs, inputs)


def is_usable(value):
    """Large numbers say nothing about the programs that compute them, nor do rounding errors around 0."""
    if value.dtype not in TYPES or not 0 < value.size <= MOST_ELEMENTS:
        return False
    if value.ndim > MOST_DIMENSIONS:
        return False
    return value.dtype.kind != "f" or LEAST <= np.abs(value).max() <= LARGEST


@dataclass
class Graph:
    seed: int
    nodes: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)  # by name: tensors
    inputs: list = field(default_factory=list)
    values: dict = field(default_factory=dict)  # by name: arrays, in the order of their nodes
    jumps: set = field(default_factory=set)  # names of what a rounding error can make another number
    count: int = 0

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self.numbers = np.random.default_rng(self.seed)
        self.opset = self.random.choice(OPSETS)

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def input(self, shape):
        name = f"in{len(self.inputs)}"
        self.inputs.append(name)
        self.values[name] = self.numbers.uniform(-2, 2, shape).astype(np.float32)
        return name

    def constant(self, value):
        name = self.name()
        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def weights(self, *shape, low=-1, high=1):
        return self.constant(self.numbers.uniform(low, high, shape).astype(np.float32))

    def number(self, value):
        return self.constant(np.float32(value))

    def integers(self, values):
        return self.constant(np.array(values, np.int64).reshape(len(values)))

    def floats(self):
        """The names of float32 values, the last made last."""
        return [name for name, value in self.values.items() if value.dtype == np.float32]

    def shape(self, name):
        return self.values[name].shape

    def model(self, nodes, outputs):
        """Of these nodes, and what they read."""
        read = {name for node in nodes for name in node.input}
        made = {name for node in nodes for name in node.output}

        def info(name):
            value = self.values[name]
            return helper.make_tensor_value_info(name, TYPES[value.dtype], value.shape)

        given = [name for name in self.values if name in read and name not in made]
        graph = helper.make_graph(
            nodes, "random", [info(name) for name in given],
            [info(name) if name in self.values else helper.make_empty_tensor_value_info(name)
             for name in outputs],
            [tensor for name, tensor in self.constants.items() if name in read])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  producer_name="pytorch")
        model.ir_version = 8 if self.opset < 20 else 10
        return model, {name: self.values[name] for name in given}

    def add(self, op_type, inputs, outputs=1, jumps=False, **attributes):
        """The name of its output, or names; nothing if ONNX Runtime refuses it, or its values are of
        no use."""
        names = [self.name() for _ in range(outputs)]
        node = helper.make_node(op_type, inputs, names, name=f"{op_type}_{self.count}", **attributes)
        try:
            model, given = self.model([node], names)
            found = [np.asarray(value) for value in answers_of(model, None, given)]
        except Exception:  # of ONNX Runtime's own kinds, and of onnx's for attributes of other opsets
            return None
        if not all(is_usable(value) for value in found):
            return None
        self.values.update(zip(names, found))
        if jumps or self.jumps.intersection(inputs):
            self.jumps.update(names)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def ends(self):
        """The values that no node reads."""
        read = {name for node in self.nodes for name in node.input}
        return [name for node in self.nodes for name in node.output
                if name in self.values and name not in read]

    def up_to(self, outputs):
        """The nodes that these need, in their order."""
        needed, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                needed.update(node.input)
                nodes.append(node)
        return nodes[::-1]
