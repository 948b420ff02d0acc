"""Single operators with attributes at random. Each gets the graph and a value; it gives a name, names,
or nothing where the operator does not suit the value. Left out is what ONNX leaves open, and where ONNX
Runtime differs from ONNX, as docs/methods/operators.md says."""
import numpy as np
from onnx import TensorProto

OPERATORS = []


def operator(weight=1, dimensions=range(1, 6), since=11):
    """Chosen so much more often than others, for values of so many dimensions."""
    def note(function):
        OPERATORS.append((function, weight, frozenset(dimensions), since))
        return function
    return note


def add_operator(graph):
    names = graph.floats()
    x = graph.random.choice(names[-3:] if graph.random.random() < 0.8 else names)
    rank = len(graph.shape(x))
    fitting = [(function, weight) for function, weight, dimensions, since in OPERATORS
               if rank in dimensions and graph.opset >= since]
    if not fitting:
        return None
    functions, weights = zip(*fitting)
    return graph.random.choices(functions, weights)[0](graph, x)


IMAGES = range(3, 6)


def divisors(number):
    return [n for n in range(1, number + 1) if number % n == 0]


def axis_of(graph, x):
    rank = len(graph.shape(x))
    return graph.random.randint(-rank, rank - 1)


def broadcasts(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def with_axes(graph, op_type, x, axes, **attributes):
    """Axes are an input since some opset."""
    if graph.opset >= (13 if op_type in ("ReduceSum", "Squeeze", "Unsqueeze") else 18):
        return graph.add(op_type, [x, graph.integers(axes)], **attributes)
    return graph.add(op_type, [x], axes=axes, **attributes)


@operator(4, IMAGES)
def conv(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    channels, rank = shape[1], len(shape) - 2
    groups = pick(divisors(channels) + [1, 1, channels])
    filters = groups * graph.random.randint(1, max(1, pick([3, 9, 20]) // groups))
    kernel = [pick([1, 2, 3, 3, 5]) for _ in range(rank)]
    attributes = {"dilations": [pick([1, 1, 1, 2, 3]) for _ in kernel], "group": groups,
                  "strides": [pick([1, 1, 2, 3]) for _ in kernel]}
    padding = graph.random.random()
    if padding < 0.6:
        attributes["pads"] = [graph.random.randint(0, min(3, (k - 1) * d)) for k, d in
                              zip(kernel * 2, attributes["dilations"] * 2)]
    elif padding < 0.85:
        attributes["auto_pad"] = pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if graph.random.random() < 0.7:
        attributes["kernel_shape"] = kernel
    inputs = [x, graph.weights(filters, channels // groups, *kernel)]
    if graph.random.random() < 0.6:
        inputs.append(graph.weights(filters))
    return graph.add("Conv", inputs, **attributes)


@operator(1, IMAGES)
def conv_transpose(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    channels, rank = shape[1], len(shape) - 2
    groups, filters = pick(divisors(channels) + [1, 1]), graph.random.randint(1, 4)
    kernel = [pick([1, 2, 3, 4]) for _ in range(rank)]
    strides, dilations = ([pick(among) for _ in kernel] for among in ([1, 2, 2, 3], [1, 1, 2]))
    attributes = {"strides": strides, "dilations": dilations, "group": groups}
    if graph.random.random() < 0.5:
        attributes["pads"] = [graph.random.randint(0, min(2, (k - 1) * d))
                              for k, d in zip(kernel * 2, dilations * 2)]
    if graph.random.random() < 0.3:
        attributes["output_padding"] = [graph.random.randint(0, max(s, d) - 1)
                                        for s, d in zip(strides, dilations)]
    inputs = [x, graph.weights(channels, filters, *kernel)]
    if graph.random.random() < 0.5:
        inputs.append(graph.weights(filters * groups))
    return graph.add("ConvTranspose", inputs, **attributes)


@operator(2, IMAGES)
def pool(graph, x):
    pick, sizes = graph.random.choice, graph.shape(x)[2:]
    op_type = pick(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"])
    kernel, strides = ([pick(among) for _ in sizes] for among in ([1, 2, 3, 3, 5], [1, 2, 2, 3]))
    attributes = {"kernel_shape": kernel, "strides": strides}
    dilations, pads = [1] * len(sizes), [0] * 2 * len(sizes)
    if (op_type == "MaxPool" or graph.opset >= 19) and graph.random.random() < 0.3:
        attributes["dilations"] = dilations = [pick([1, 2]) for _ in sizes]
    padding = graph.random.random()
    if padding < 0.5:
        attributes["pads"] = pads = [graph.random.randint(0, k - 1) for k in kernel * 2]
    elif padding < 0.75 and max(dilations) == 1 and all(map(int.__ge__, kernel, strides)):
        attributes["auto_pad"] = pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if op_type == "LpPool":
        attributes["p"] = pick([1, 2, 3])
    elif graph.random.random() < 0.4:
        attributes["ceil_mode"] = 1
    if op_type == "AveragePool" and graph.random.random() < 0.5:
        attributes["count_include_pad"] = 1
    padded = [size + first + last for size, first, last in
              zip(sizes, pads[:len(sizes)], pads[len(sizes):])]
    if any(room < (k - 1) * d + 1 for room, k, d in zip(padded, kernel, dilations)):
        return None
    return graph.add(op_type, [x], **attributes)


@operator(1, IMAGES)
def global_pool(graph, x):
    return graph.add(graph.random.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), [x])


@operator(2, (2,))
def gemm(graph, x):
    pick, flip = graph.random.choice, [graph.random.randint(0, 1) for _ in range(2)]
    rows, inner = graph.shape(x)[::-1] if flip[0] else graph.shape(x)
    columns = graph.random.randint(1, 20)
    inputs = [x, graph.weights(*((columns, inner) if flip[1] else (inner, columns)))]
    if graph.random.random() < 0.7:
        inputs.append(graph.weights(*pick([(columns,), (1, columns), (rows, columns), (rows, 1),
                                           (1,)])))
    return graph.add("Gemm", inputs, transA=flip[0], transB=flip[1], alpha=pick([1.0, 0.5, -1.5]),
                     beta=pick([1.0, 0.25, 0.0]))


@operator(2)
def mat_mul(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    columns = graph.random.randint(1, 17)
    if len(shape) > 1 and graph.random.random() < 0.4:
        return graph.add("MatMul", [graph.weights(*pick([(5, shape[-2]), (shape[-2],)])), x])
    return graph.add("MatMul", [x, graph.weights(*pick(
        [(shape[-1], columns), (shape[-1],), (*shape[:-2], shape[-1], columns)]))])


@operator(3)
def two_operands(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    op_type = pick(["Add", "Sub", "Mul", "Div", "Add", "Mul", "Min", "Max", "Pow", "PRelu", "Mod"])
    others = [name for name in graph.floats() if broadcasts(graph.shape(name), shape)]
    if op_type in ("PRelu", "Pow", "Mod", "Div") or graph.random.random() < 0.6:
        other = [size if graph.random.random() < 0.6 else 1 for size in shape]
        if graph.random.random() < 0.4:
            other = other[graph.random.randint(0, len(shape)):]
        inputs = [x, graph.number(pick([2, 3, 0.5])) if op_type == "Pow" else
                  graph.weights(*other, low=0.5 if op_type in ("Div", "Mod") else -1, high=2)]
    else:
        inputs = graph.random.sample([x, pick(others)], 2)
    attributes = {"fmod": 1} if op_type == "Mod" else {}
    return graph.add(op_type, inputs, jumps=op_type == "Mod", **attributes)


FUNCTIONS = ("Relu Sigmoid Tanh Exp Sqrt Abs Neg Erf Elu Selu Softplus Softsign Sin Cos Atan Sinh Cosh "
             "Asinh Log Reciprocal Identity Celu HardSwish Mish Gelu LeakyRelu HardSigmoid").split()


@operator(3)
def function(graph, x):
    op_type = graph.random.choice(FUNCTIONS)
    attributes = {"LeakyRelu": {"alpha": 0.2}, "Elu": {"alpha": 1.5}, "Celu": {"alpha": 0.5},
                  "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
                  "Gelu": {"approximate": graph.random.choice(["none", "tanh"])}}
    return graph.add(op_type, [x], **attributes.get(op_type, {}))


@operator()
def function_with_jumps(graph, x):
    op_type = graph.random.choice(["Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink"])
    attributes = {"ThresholdedRelu": {"alpha": 0.5}, "Shrink": {"lambd": 0.5, "bias": 0.3}}
    return graph.add(op_type, [x], jumps=True, **attributes.get(op_type, {}))


@operator()
def clip(graph, x):
    low, high = graph.random.choice([(-1, 1), (0, 6), (-0.5, None), (None, 0.5)])
    inputs = [x, *("" if bound is None else graph.number(bound) for bound in (low, high))]
    return graph.add("Clip", inputs if inputs[-1] else inputs[:-1])


@operator(2)
def softmax(graph, x):
    axis = axis_of(graph, x)
    kinds = ["Softmax", "Softmax", "LogSoftmax"] if graph.shape(x)[axis] > 1 else ["Softmax"]
    return graph.add(graph.random.choice(kinds), [x], axis=axis)


@operator(3, range(2, 6))
def normalisation(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    kind, channels = pick(["batch", "instance", "layer", "group", "lrn"]), shape[1]
    if kind == "batch":
        return graph.add("BatchNormalization", [
            x, *(graph.weights(channels) for _ in range(3)),
            graph.weights(channels, low=0.3, high=2)], epsilon=pick([1e-5, 1e-2]))
    if kind == "layer":
        axis = graph.random.randrange(len(shape))
        inputs = [x, *(graph.weights(*shape[axis:]) for _ in range(graph.random.randint(1, 2)))]
        return graph.add("LayerNormalization", inputs, axis=axis, epsilon=1e-2)
    if kind == "lrn":
        return graph.add("LRN", [x], size=pick([1, 2, 3, 5]), alpha=0.1, beta=0.75, bias=pick([1., 2.]))
    if kind == "instance":
        return graph.add("InstanceNormalization",
                         [x, graph.weights(channels), graph.weights(channels)], epsilon=1e-2)
    groups = pick(divisors(channels))
    factors = groups if graph.opset < 21 else channels
    return graph.add("GroupNormalization", [x, graph.weights(factors), graph.weights(factors)],
                     num_groups=groups, epsilon=1e-2)


@operator(3, IMAGES)
def resize(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    mode = pick(["nearest", "linear", "linear"] + ["cubic"] * (len(shape) == 4))
    places = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    attributes = {"mode": mode, "coordinate_transformation_mode": pick(places)}
    if mode == "nearest":
        attributes["nearest_mode"] = pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if mode == "cubic":
        attributes.update(cubic_coeff_a=pick([-0.75, -0.5]), exclude_outside=pick([0, 1]))
    # Of 0.6 times a size, programs round the places to different sides.
    factors = [2, 2, 3, 0.5, 1, 1.5] + ([0.25] if mode == "nearest" else [0.7, 0.6])
    scales = [1, 1, *(pick(factors) for _ in shape[2:])]
    if attributes["coordinate_transformation_mode"] != "align_corners" and mode != "nearest" and \
            graph.opset >= 18 and graph.random.random() < 0.3:
        attributes["antialias"] = 1
    absent = "" if graph.opset >= 13 else graph.constant(np.zeros(0, np.float32))
    if graph.random.random() < 0.6:
        inputs = [x, absent, graph.constant(np.array(scales, np.float32))]
    else:
        inputs = [x, absent, absent,
                  graph.integers([max(1, int(n * scale)) for n, scale in zip(shape, scales)])]
    return graph.add("Resize", inputs, **attributes)


@operator(2)
def pad(graph, x):
    pick, rank = graph.random.choice, len(graph.shape(x))
    mode = pick(["constant", "constant", "edge", "reflect"] + ["wrap"] * (graph.opset >= 19))
    pads = [pick([0, 0, 1, 2]) for _ in range(2 * rank)]
    if mode == "constant" and graph.random.random() < 0.2:
        pads[graph.random.randrange(2 * rank)] = -1
    inputs = [x, graph.integers(pads)]
    if mode == "constant" and graph.random.random() < 0.6:
        inputs.append(graph.number(pick([0, 1.5, -2])))
    return graph.add("Pad", inputs, mode=mode)


@operator(2)
def slice_(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    axes = graph.random.sample(range(len(shape)), graph.random.randint(1, len(shape)))
    starts, ends, steps = [], [], []
    for axis in axes:
        size, step = shape[axis], pick([1, 1, 1, 2, -1, -2])
        steps.append(step)
        starts.append(pick([0, graph.random.randrange(size), -size]) if step > 0 else
                      pick([-1, size - 1, 2 ** 31]))
        ends.append(pick([size, 2 ** 31, graph.random.randint(1, size)]) if step > 0 else
                    pick([-2 ** 31, -size - 1, 0]))
    return graph.add("Slice", [x, *map(graph.integers, (starts, ends, axes, steps))])


@operator()
def split(graph, x):
    axis = axis_of(graph, x)
    size = graph.shape(x)[axis]
    if size < 2:
        return None
    parts = [graph.random.randint(1, size - 1)]
    parts.append(size - parts[0])
    if graph.opset >= 13:
        return graph.add("Split", [x, graph.integers(parts)], outputs=2, axis=axis)
    return graph.add("Split", [x], outputs=2, axis=axis, split=parts)


@operator(2)
def concat(graph, x):
    shape = graph.shape(x)
    axis = graph.random.randrange(len(shape))

    def without(sizes):
        return [size for i, size in enumerate(sizes) if i != axis]
    fitting = [name for name in graph.floats() if len(graph.shape(name)) == len(shape) and
               without(graph.shape(name)) == without(shape)]
    parts = graph.random.choices(fitting, k=graph.random.randint(1, 3))
    if graph.random.random() < 0.3:
        parts.append(graph.weights(*(3 if i == axis else size for i, size in enumerate(shape))))
    graph.random.shuffle(parts)
    return graph.add("Concat", parts, axis=axis)


@operator(3)
def moved(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    kind = pick(["Transpose", "Reshape", "Flatten", "Unsqueeze", "Squeeze", "Expand", "Tile", "Shape"])
    if kind == "Transpose":
        return graph.add(kind, [x], perm=graph.random.sample(range(len(shape)), len(shape)))
    if kind == "Reshape":
        front = pick(divisors(int(np.prod(shape))))
        return graph.add(kind, [x, graph.integers(pick([[-1], [front, -1], [-1, front], [1, -1, 1]]))])
    if kind == "Flatten":
        return graph.add(kind, [x], axis=graph.random.randint(-len(shape), len(shape)))
    if kind == "Unsqueeze":
        return with_axes(graph, kind, x, [graph.random.randint(-len(shape) - 1, len(shape))])
    if kind == "Squeeze":
        ones = [i for i, size in enumerate(shape) if size == 1]
        return with_axes(graph, kind, x, [pick(ones)]) if ones else None
    if kind == "Expand":
        wide = [size if size > 1 else pick([1, 2, 3]) for size in shape]
        return graph.add(kind, [x, graph.integers(wide)])
    if kind == "Tile":
        return graph.add(kind, [x, graph.integers([pick([1, 1, 2, 3]) for _ in shape])])
    sizes = graph.add("Shape", [x])
    return sizes and graph.add("Cast", [sizes], to=TensorProto.FLOAT)


@operator(3)
def indexed(graph, x):
    pick, shape = graph.random.choice, graph.shape(x)
    axis = graph.random.randrange(len(shape))
    kind, along = pick(["Gather", "GatherElements", "GatherND", "ScatterElements", "TopK"]), shape[axis]
    other = [2 if i == axis else size for i, size in enumerate(shape)]
    if kind == "Gather":
        indices = graph.numbers.integers(-along, along, pick([(), (3,), (2, 2)]))
        return graph.add(kind, [x, graph.constant(indices)], axis=axis)
    if kind == "GatherElements":
        return graph.add(kind, [x, graph.constant(graph.numbers.integers(-along, along, other))],
                         axis=axis)
    if kind == "GatherND":
        depth = graph.random.randint(1, len(shape))
        indices = [graph.numbers.integers(0, size, 3) for size in shape[:depth]]
        return graph.add(kind, [x, graph.constant(np.stack(indices, -1))])
    if kind == "ScatterElements":
        one = [1 if i == axis else size for i, size in enumerate(shape)]
        indices = graph.constant(graph.numbers.integers(0, along, one))
        return graph.add(kind, [x, indices, graph.weights(*one)], axis=axis)
    steps = np.diff(np.sort(graph.values[x], axis), axis=axis)
    if steps.size and steps.min() < 1e-3:  # what is as large may stand in any order
        return None
    return graph.add(kind, [x, graph.integers([graph.random.randint(1, along)])], outputs=2, axis=axis,
                     largest=pick([0, 1]), jumps=True)


@operator()
def where(graph, x):
    fitting = [name for name in graph.floats() if broadcasts(graph.shape(name), graph.shape(x))]
    op_type = graph.random.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual"])
    condition = graph.add(op_type, [x, graph.number(0.1)], jumps=True)
    return condition and graph.add("Where", [condition, x, graph.random.choice(fitting)])


@operator(3)
def reduced(graph, x):
    rank = len(graph.shape(x))
    kind = graph.random.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare",
                                "LogSumExp", "Mean"])
    axes = graph.random.sample(range(rank), graph.random.randint(1, rank))
    return with_axes(graph, f"Reduce{kind}", x, axes, keepdims=graph.random.randint(0, 1))


@operator()
def best(graph, x):
    index = graph.add(graph.random.choice(["ArgMax", "ArgMin"]), [x], jumps=True,
                      axis=axis_of(graph, x), keepdims=graph.random.randint(0, 1))
    return index and graph.add("Cast", [index], to=TensorProto.FLOAT)


@operator()
def cumulated(graph, x):
    return graph.add("CumSum", [x, graph.constant(np.int64(axis_of(graph, x)))],
                     exclusive=graph.random.randint(0, 1), reverse=graph.random.randint(0, 1))


@operator(1, (4,))
def blocks(graph, x):
    if graph.shape(x)[1] % 4 == 0 and graph.random.random() < 0.7:
        return graph.add("DepthToSpace", [x], blocksize=2, mode=graph.random.choice(["DCR", "CRD"]))
    return graph.add("SpaceToDepth", [x], blocksize=2)


@operator(1, range(2, 5))
def einsum(graph, x):
    equation = {2: "ij,jk->ki", 3: "bij,jk->bki", 4: "nchw,wk->nkh"}[len(graph.shape(x))]
    return graph.add("Einsum", [x, graph.weights(graph.shape(x)[-1], 4)], equation=equation)


@operator(1, (4,), since=16)
def grid_sample(graph, x):
    pick, modes = graph.random.choice, ["bilinear", "nearest", "bicubic"]
    if graph.opset >= 20:
        modes = ["linear", "nearest", "cubic"]
    grid = graph.weights(graph.shape(x)[0], pick([1, 4]), pick([1, 5]), 2, low=-1.3, high=1.3)
    return graph.add("GridSample", [x, grid], jumps=True, mode=pick(modes), align_corners=pick([0, 1]),
                     padding_mode=pick(["zeros", "border", "reflection"]))


@operator(2, (3,))
def recurrent(graph, x):
    pick, (steps, batch, size) = graph.random.choice, graph.shape(x)
    op_type, hidden = pick(["LSTM", "GRU", "RNN"]), pick([1, 4, 9])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op_type]
    direction = pick(["forward", "reverse", "bidirectional"])
    directions = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden, "direction": direction}
    inputs = [x, graph.weights(directions, gates * hidden, size),
              graph.weights(directions, gates * hidden, hidden)]
    if graph.random.random() < 0.6:
        inputs.append(graph.weights(directions, 2 * gates * hidden))
        if graph.random.random() < 0.4:
            lengths = graph.numbers.integers(1, steps + 1, batch).astype(np.int32)
            inputs += [graph.constant(lengths), graph.weights(directions, batch, hidden)]
    if op_type == "GRU":
        attributes["linear_before_reset"] = pick([0, 1])
    if graph.random.random() < 0.2:
        attributes["clip"] = 0.7
    return graph.add(op_type, inputs, outputs=3 if op_type == "LSTM" else 2, **attributes)


def quantised(graph, x, scale):
    constants = [graph.constant(np.float32(scale)),
                 graph.constant(np.uint8(graph.random.randint(0, 255)))]
    q = graph.add("QuantizeLinear", [x, *constants], jumps=True)
    return q and graph.add("DequantizeLinear", [q, *constants])


@operator(1)
def rounded(graph, x):
    return quantised(graph, x, graph.random.uniform(0.01, 0.05))


@operator(3, (4,), since=13)
def quantised_conv(graph, x):
    pick, channels = graph.random.choice, graph.shape(x)[1]
    x = quantised(graph, x, graph.random.uniform(0.01, 0.05))
    groups, size = pick([1, 1, channels]), pick([1, 3])
    filters = groups * graph.random.randint(1, 6)
    numbers = graph.numbers.integers(-127, 128, (filters, channels // groups, size, size))
    weights = x and graph.add("DequantizeLinear", [
        graph.constant(numbers.astype(np.int8)), graph.weights(filters, low=0.002, high=0.02),
        graph.constant(np.zeros(filters, np.int8))], axis=0)
    y = weights and graph.add("Conv", [x, weights, graph.weights(filters)], group=groups,
                              kernel_shape=[size] * 2, pads=[size // 2] * 4, strides=[pick([1, 2])] * 2)
    if y and graph.random.random() < 0.5:
        y = graph.add("Relu", [y])
    return y and quantised(graph, y, graph.random.uniform(0.01, 0.08))
