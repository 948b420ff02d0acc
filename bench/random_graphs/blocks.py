"""Convolutions and products with what exporters put behind them: engines compute these together."""
import numpy as np


def per_channel(graph, y, low=-1, high=1):
    shape = graph.shape(y)
    return graph.weights(1, shape[1], *[1] * (len(shape) - 2), low=low, high=high)


def chain(graph, y, *steps):
    """Each step gets the last value; nothing if one is refused."""
    for step in steps:
        y = y and step(y)
    return y


def swish(graph, x):
    return chain(graph, x, lambda x: graph.add("Sigmoid", [x]), lambda s: graph.add("Mul", [x, s]))


def mish(graph, x):
    return chain(graph, x, lambda y: graph.add("Softplus", [y]), lambda y: graph.add("Tanh", [y]),
                 lambda y: graph.add("Mul", [x, y]))


def gelu(graph, x):
    half = graph.number(0.5)
    return chain(graph, x, lambda y: graph.add("Div", [y, graph.number(2 ** 0.5)]),
                 lambda y: graph.add("Erf", [y]), lambda y: graph.add("Add", [y, graph.number(1)]),
                 lambda y: graph.add("Mul", [x, y]), lambda y: graph.add("Mul", [y, half]))


def hard_swish(graph, x):
    return chain(graph, x, lambda y: graph.add("HardSigmoid", [y], alpha=1 / 6, beta=0.5),
                 lambda y: graph.add("Mul", [x, y]))


def clipped(low, high):
    return lambda graph, x: graph.add("Clip", [x, graph.number(low), graph.number(high)])


def prelu(graph, x):
    shape = graph.shape(x)
    slopes = graph.random.choice([(1,), (shape[1],) + (1,) * (len(shape) - 2)])
    return graph.add("PRelu", [x, graph.weights(*slopes)])


def leaky(graph, x):
    return graph.add("LeakyRelu", [x], alpha=graph.random.choice([0.1, -0.2, 1.5]))


def root(graph, x):
    return chain(graph, x, lambda y: graph.add("Abs", [y]), lambda y: graph.add("Sqrt", [y]))


def one(op_type):
    return lambda graph, x: graph.add(op_type, [x])


FUNCTIONS = [swish, mish, gelu, hard_swish, clipped(0, 6), clipped(-0.5, 0.75), prelu, leaky, root,
             *map(one, ("Relu", "Relu", "Sigmoid", "Tanh", "HardSigmoid", "Elu", "Abs", "Softplus",
                        "Exp", "Neg"))]


def function(graph, y):
    return graph.random.choice(FUNCTIONS)(graph, y)


def normalisation(graph, y):
    channels = graph.shape(y)[1]
    return graph.add("BatchNormalization", [
        y, *(graph.weights(channels) for _ in range(3)), graph.weights(channels, low=0.3, high=2)])


def factor(graph, y):
    op_type = graph.random.choice(["Add", "Mul", "Div", "Sub"])
    other = (per_channel(graph, y, 0.5, 2) if graph.random.random() < 0.8
             else graph.number(graph.random.uniform(0.5, 2)))
    inputs = [y, other]
    if op_type in ("Add", "Mul") and graph.random.random() < 0.5:
        inputs.reverse()
    return graph.add(op_type, inputs)


def joined(graph, y):
    """With another tensor of the shape, perhaps with itself."""
    shape = graph.shape(y)
    other = graph.random.choice([name for name in graph.floats() if graph.shape(name) == shape])
    inputs = [y, other]
    graph.random.shuffle(inputs)
    return graph.add(graph.random.choice(["Add", "Add", "Mul", "Sub", "Max", "Min"]), inputs)


def gated(graph, y):
    """As squeeze-and-excitation does it."""
    shape = graph.shape(y)
    channels, ones = shape[1], [1] * (len(shape) - 2)
    if not ones:
        return None
    weights = graph.weights(channels, channels, *ones, low=-0.3, high=0.3)
    gate = graph.random.choice(["Sigmoid", "HardSigmoid"])
    return chain(graph, y, lambda g: graph.add("GlobalAveragePool", [g]),
                 lambda g: graph.add("Conv", [g, weights]), lambda g: graph.add(gate, [g]),
                 lambda g: graph.add("Mul", graph.random.sample([y, g], 2)))


def halved(graph, y):
    shape = graph.shape(y)
    if len(shape) != 4 or min(shape[2:]) < 3:
        return None
    return graph.add(graph.random.choice(["MaxPool", "AveragePool"]), [y], kernel_shape=[2, 2],
                     strides=[2, 2])


BEHIND = [normalisation, function, function, factor, factor, joined, joined, gated, halved]


def convolution(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    channels, dimensions = shape[1], len(shape) - 2
    divisors = [n for n in range(1, channels + 1) if channels % n == 0]
    kind = pick(["pixel", "usual", "depthwise", "grouped", "large", "transposed"])
    groups = {"depthwise": channels, "grouped": pick(divisors)}.get(kind, 1)
    size = {"pixel": 1, "usual": 3, "large": pick([2, 5, 7])}.get(kind, pick([1, 3]))
    filters = max(1, pick([groups, 2 * groups, 8, 16, channels, channels, 32, 3]) // groups) * groups
    bias = [graph.weights(filters)] if graph.random.random() < 0.6 else []
    if kind == "transposed":
        kernel = [pick([2, 3, 4])] * dimensions
        weights = graph.weights(channels, filters, *kernel, low=-0.3, high=0.3)
        return graph.add("ConvTranspose", [x, weights, *bias], strides=[2] * dimensions,
                         pads=[pick([0, 1])] * 2 * dimensions)
    weights = graph.weights(filters, channels // groups, *[size] * dimensions, low=-0.3, high=0.3)
    return graph.add("Conv", [x, weights, *bias], kernel_shape=[size] * dimensions, group=groups,
                     pads=[(size - 1) // 2] * 2 * dimensions, strides=[pick([1, 1, 2])] * dimensions,
                     dilations=[pick([1, 1, 2])] * dimensions)


def product(graph, x):
    rows = graph.shape(x)[1]
    columns = graph.random.choice([rows, rows, 16, 7, 32])
    weights = graph.weights(rows, columns, low=-0.3, high=0.3)
    bias = [graph.weights(columns)] if graph.random.random() < 0.6 else []
    if graph.random.random() < 0.5:
        return graph.add("Gemm", [x, weights, *bias])
    return graph.add("MatMul", [x, weights])


def add_block(graph):
    names = [name for name in graph.floats() if 2 <= len(graph.shape(name)) <= 5]
    if not names:
        return None
    x = names[-1] if graph.random.random() < 0.8 else graph.random.choice(names)
    y = (product if len(graph.shape(x)) == 2 else convolution)(graph, x)
    for _ in range(graph.random.randint(0, 4) if y else 0):
        y = graph.random.choice(BEHIND)(graph, y) or y
    return y
