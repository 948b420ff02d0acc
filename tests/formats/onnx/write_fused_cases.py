#!/usr/bin/env python3
"""Writes fused_cases: models of one operator, of those into which ONNX Runtime's optimisers fuse others, of ai.onnx.ml and
of later versions than the distribution's cases, with inputs and what ONNX Runtime makes of them, as ONNX keeps its own cases.

  pip install onnx onnxruntime numpy
  tests/formats/onnx/write_fused_cases.py
"""
from pathlib import Path

import numpy
import onnxruntime
from onnx import helper, numpy_helper

FOLDER = Path(__file__).parent / "fused_cases"
RANDOM = numpy.random.RandomState(11)


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def write(name, operator, inputs, free=1, outputs=("y",), domain="com.microsoft", opset=17, **attributes):
    """The first `free` of the inputs are given, the others are constants; empty outputs are left out."""
    graph_inputs, constants, given = [], [], []
    names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
    for input_name, value in zip(names, inputs):
        if value is None:
            continue
        if len(given) < free:
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            graph_inputs.append(helper.make_tensor_value_info(input_name, kind, value.shape))
            given.append((input_name, value))
        else:
            constants.append(numpy_helper.from_array(value, input_name))
    node = helper.make_node(operator, names, list(outputs), domain=domain, name=name, **attributes)
    wanted = [each for each in outputs if each]
    graph = helper.make_graph([node], name, graph_inputs, [helper.make_empty_tensor_value_info(each) for each in wanted],
                              constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)] + [helper.make_opsetid(domain, 3)] * (domain == "ai.onnx.ml"))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    answers = session.run(wanted, dict(given))
    for each, answer in zip(graph.output, answers):
        each.CopyFrom(helper.make_tensor_value_info(each.name, helper.np_dtype_to_tensor_dtype(answer.dtype), answer.shape))
    model.graph.CopyFrom(graph)
    folder = FOLDER / name / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "model.onnx").write_bytes(model.SerializeToString())
    for i, (input_name, value) in enumerate(given):
        (folder / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, input_name).SerializeToString())
    for i, (each, answer) in enumerate(zip(wanted, answers)):
        (folder / f"output_{i}.pb").write_bytes(numpy_helper.from_array(answer, each).SerializeToString())


def integers(values):
    return numpy.array(values, "int32")


def write_attention():
    tokens, weights, bias = numbers(2, 5, 8), numbers(8, 24), numbers(24)
    of_keys = integers([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    of_pairs = numpy.tril(numpy.ones((2, 5, 5), "int32"), 1)
    write("attention", "Attention", [tokens, weights, bias], num_heads=2)
    write("attention_no_bias_scale", "Attention", [tokens, weights], num_heads=4, scale=0.3)
    write("attention_mask_of_keys", "Attention", [tokens, weights, bias, of_keys], num_heads=2)
    write("attention_other_mask_value", "Attention", [tokens, weights, bias, of_keys], num_heads=2,
          mask_filter_value=-50.0)
    write("attention_mask_of_pairs", "Attention", [tokens, weights, bias, of_pairs], num_heads=2)
    write("attention_ends", "Attention", [tokens, weights, bias, integers([3, 5])], num_heads=2)
    write("attention_ends_and_begins", "Attention", [tokens, weights, bias, integers([4, 5, 1, 0])], num_heads=2)
    write("attention_unidirectional", "Attention", [tokens, weights, bias], num_heads=2, unidirectional=1)
    write("attention_unidirectional_masked", "Attention", [tokens, weights, bias, of_keys], num_heads=2, unidirectional=1)
    write("attention_sizes", "Attention", [tokens, numbers(8, 28), numbers(28)], num_heads=2, qkv_hidden_sizes=[8, 8, 12])
    write("attention_score_bias", "Attention", [tokens, weights, bias, None, None, numbers(1, 2, 5, 5)], num_heads=2)
    write("attention_past", "Attention", [tokens, weights, bias, None, numbers(2, 2, 2, 3, 4)], 1, ("y", "present"),
          num_heads=2, unidirectional=1)


def write_multi_head():
    query, key, value = numbers(2, 4, 8), numbers(2, 6, 8), numbers(2, 6, 12)
    heads, wide = dict(num_heads=2), numbers(28)
    write("heads", "MultiHeadAttention", [query, key, value], 3, **heads)
    write("heads_bias", "MultiHeadAttention", [query, key, value, wide], 3, **heads)
    write("heads_mask", "MultiHeadAttention",
          [query, key, value, wide, integers([[1, 1, 0, 1, 1, 1], [1, 0, 1, 1, 0, 0]])], 3, **heads)
    write("heads_mask_of_lengths", "MultiHeadAttention", [query, key, value, None, integers([4, 6])], 3, **heads)
    write("heads_score_bias", "MultiHeadAttention", [query, key, value, None, None, numbers(2, 2, 4, 6)], 3, **heads)
    write("heads_unidirectional", "MultiHeadAttention", [query, numbers(2, 4, 8), numbers(2, 4, 8)], 3, unidirectional=1, **heads)
    write("heads_by_head", "MultiHeadAttention", [query, numbers(2, 2, 6, 4), numbers(2, 2, 6, 4)], 3, **heads)
    write("heads_past", "MultiHeadAttention",
          [query, numbers(2, 4, 8), numbers(2, 4, 8), None, None, None, numbers(2, 2, 3, 4), numbers(2, 2, 3, 4)], 3,
          ("y", "keys", "values"), **heads)


def write_normalization():
    x, skip, gamma, beta, bias = numbers(2, 3, 8), numbers(2, 3, 8), numbers(8), numbers(8), numbers(8)
    write("skip", "SkipLayerNormalization", [x, skip, gamma, beta, bias], 2, epsilon=1e-5)
    write("skip_no_beta", "SkipLayerNormalization", [x, skip, gamma], 2)
    write("skip_sum", "SkipLayerNormalization", [x, numbers(3, 8), gamma, beta], 2, ("y", "", "", "sum"))
    write("skip_simplified", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], 2, ("y", "", "", "sum"), epsilon=1e-6)
    words, segments = integers([[3, 1, 4], [1, 5, 0]]), integers([[0, 1, 1], [0, 0, 1]])
    tables = [numbers(7, 8), numbers(5, 8), numbers(2, 8)]
    write("embed", "EmbedLayerNormalization", [words, segments, *tables, gamma, beta], 2, ("y", "mask"))
    write("embed_mask", "EmbedLayerNormalization",
          [words, segments, *tables, gamma, beta, integers([[1, 1, 0], [1, 0, 0]])], 2, ("y", "mask"))
    write("embed_no_segments", "EmbedLayerNormalization", [words, None, tables[0], tables[1], None, gamma, beta], 1,
          ("y", "mask"), epsilon=1e-6)


def write_functions():
    x, bias = 3 * numbers(2, 5, 8), numbers(8)
    write("fast_gelu", "FastGelu", [x])
    write("fast_gelu_bias", "FastGelu", [x, bias])
    write("bias_gelu", "BiasGelu", [x, bias])
    write("quick_gelu", "QuickGelu", [x], alpha=1.3)
    write("product", "FusedMatMul", [numbers(2, 3, 4, 5), numbers(2, 3, 5, 6)], 2, alpha=0.7)
    write("product_turned", "FusedMatMul", [numbers(3, 5, 4), numbers(3, 6, 5)], 2, transA=1, transB=1)
    write("product_turned_right", "FusedMatMul", [numbers(3, 4, 5), numbers(6, 5)], 2, transB=1, alpha=2.0)


def write_optimised():
    x, weights, bias = numbers(1, 4, 7, 6), numbers(6, 2, 3, 3), numbers(6)
    conv = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=2)
    for name, parameters in {"Relu": [], "Sigmoid": [], "Tanh": [], "LeakyRelu": [0.2], "Clip": [-0.3, 0.5],
                             "HardSigmoid": [0.3, 0.4]}.items():
        write(f"conv_{name.lower()}", "FusedConv", [x, weights, bias], activation=name, **({"activation_params": parameters} if parameters else {}),
              **conv)
    write("conv_sum", "FusedConv", [x, weights, bias, numbers(1, 6, 7, 6)], activation="Relu", **conv)
    write("conv_sum_alone", "FusedConv", [x, weights, None, numbers(1, 6, 7, 6)], **conv)
    write("gemm_relu", "FusedGemm", [numbers(3, 5), numbers(5, 4), numbers(4)], activation="Relu", alpha=0.7, beta=0.5)
    write("gemm_leaky", "FusedGemm", [numbers(5, 3), numbers(4, 5), numbers(4)], activation="LeakyRelu", activation_alpha=0.3,
          transA=1, transB=1)
    numbers_of_bytes = RANDOM.randint(-128, 128, (6, 4)).astype("int8")
    unsigned = RANDOM.randint(0, 256, (6, 4)).astype("uint8")
    scale, one = numbers(4) ** 2 + 0.01, numpy.array(0.02, "float32")
    write("dynamic", "DynamicQuantizeMatMul", [3 * numbers(2, 5, 6), numbers_of_bytes, one])
    write("dynamic_by_column", "DynamicQuantizeMatMul",
          [3 * numbers(2, 5, 6), unsigned, scale, RANDOM.randint(100, 150, 4).astype("uint8"), numbers(4)])
    bytes_in = RANDOM.randint(0, 256, (5, 6)).astype("uint8")
    write("to_float", "MatMulIntegerToFloat", [bytes_in, numbers_of_bytes, one, one])
    write("to_float_bias", "MatMulIntegerToFloat",
          [bytes_in, unsigned, one, scale, numpy.array(120, "uint8"), RANDOM.randint(100, 150, 4).astype("uint8"), numbers(4)])


def write_learned():
    x = numbers(5, 4)
    ml = dict(domain="ai.onnx.ml")
    row = [float(each) for each in numbers(4)]
    write("scaler", "Scaler", [x], offset=row, scale=[0.5, 2.0, 3.0, -1.0], **ml)
    write("scaler_of_integers", "Scaler", [RANDOM.randint(-9, 9, (5, 4))], offset=[1.5], scale=[0.25], **ml)
    rows = dict(coefficients=[float(each) for each in numbers(12)], intercepts=[0.1, -0.2, 0.3], **ml)
    write("regressor", "LinearRegressor", [x], targets=3, **rows)
    for how in ("NONE", "SOFTMAX", "LOGISTIC"):
        write(f"classifier_{how.lower()}", "LinearClassifier", [x], 1, ("label", "scores"), classlabels_ints=[7, 3, 11],
              multi_class=1, post_transform=how, **rows)


def write_grids():
    for name, size, sides in (("images", [2, 3, 5, 4], 2), ("volumes", [2, 3, 2, 5, 4], 3)):
        for ends in (0, 1):
            write(f"grid_of_{name}{'_ends' if ends else ''}", "AffineGrid", [numbers(2, sides, sides + 1), numpy.array(size, "int64")],
                  domain="", opset=20, align_corners=ends)


def write_rearranged():
    plain = dict(domain="", opset=18)
    x = numbers(4, 3, 2)
    write("reversed", "ReverseSequence", [x, numpy.array([2, 4, 1], "int64")], **plain)
    write("reversed_batch_first", "ReverseSequence", [x, numpy.array([3, 0, 1, 2], "int64")], batch_axis=0, time_axis=1, **plain)
    for name, size, attributes in (("cropped", [3, 2, 2], {}), ("padded", [7, 6, 2], {}), ("cropped_and_padded", [2, 6], {"axes": [0, -1]}),
                                   ("odd", [1, 8], {"axes": [0, 1]})):
        write(f"middle_{name}", "CenterCropPad", [x, numpy.array(size, "int64")], **attributes, **plain)
    places = numpy.array([[[[0, 3], [8, 11]], [[21, 19], [24, 31]]]], "int64")
    write("unpooled", "MaxUnpool", [numbers(1, 2, 2, 2), places], 2, kernel_shape=[2, 2], strides=[2, 2], **plain)
    write("unpooled_padded", "MaxUnpool", [numbers(1, 2, 3, 3), numpy.arange(18, dtype="int64").reshape(1, 2, 3, 3)], 2,
          kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1], **plain)
    write("unpooled_volume", "MaxUnpool", [numbers(1, 1, 2, 2, 2), 2 * numpy.arange(8, dtype="int64").reshape(1, 1, 2, 2, 2)], 2,
          kernel_shape=[2, 2, 2], strides=[2, 2, 2], **plain)


def write_deformed():
    plain = dict(domain="", opset=19)
    x, weights, offsets, bias = numbers(2, 4, 6, 5), numbers(6, 2, 3, 3), 2 * numbers(2, 36, 6, 5), numbers(6)
    sizes = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=2, offset_group=2, **plain)
    write("deformed", "DeformConv", [x, weights, offsets, bias], 4, **sizes)
    write("deformed_by_mask", "DeformConv", [x, weights, offsets, None, numbers(2, 18, 6, 5)], 5, **sizes)
    write("deformed_sparse", "DeformConv", [numbers(1, 3, 9, 8), numbers(4, 3, 2, 3), 3 * numbers(1, 12, 4, 5)], 3,
          pads=[0, 1, 1, 2], strides=[2, 2], dilations=[2, 1], **plain)


def write_bits():
    plain = dict(domain="", opset=18)
    for kind in ("int8", "uint16", "int32", "uint64"):
        a, b = [RANDOM.randint(0, 256, (3, 4)).astype(kind), RANDOM.randint(0, 256, (4,)).astype(kind)]
        for name in ("And", "Or", "Xor"):
            write(f"bits_{name.lower()}_{kind}", f"Bitwise{name}", [a, b], 2, **plain)
        write(f"bits_not_{kind}", "BitwiseNot", [a], **plain)
    for kind in ("uint8", "uint32", "uint64"):
        a, b = RANDOM.randint(0, 256, (3, 4)).astype(kind), numpy.array([0, 1, 3, 7], kind)
        for direction in ("LEFT", "RIGHT"):
            write(f"shift_{direction.lower()}_{kind}", "BitShift", [a, b], 2, direction=direction, **plain)


def write_bands():
    for name, bands, length, rate, low, high in (("speech", 20, 400, 16000, 0.0, 8000.0), ("few", 3, 16, 8000, 20.0, 3000.0)):
        write(f"mel_{name}", "MelWeightMatrix", [numpy.array(bands, "int64"), numpy.array(length, "int64"), numpy.array(rate, "int64"),
              numpy.array(low, "float32"), numpy.array(high, "float32")], 1, domain="", opset=17)


def write_machines():
    x, support = numbers(6, 3), [float(each) for each in numbers(15)]
    coefficients = [float(each) for each in numbers(5)]
    for kind in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        write(f"machine_{kind.lower()}", "SVMRegressor", [x], domain="ai.onnx.ml", kernel_type=kind, kernel_params=[0.5, 0.25, 3.0],
              support_vectors=support, coefficients=coefficients, n_supports=5, rho=[0.2])
    write("machine_of_features", "SVMRegressor", [x], domain="ai.onnx.ml", kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0],
          coefficients=coefficients[:3], rho=[0.2])


if __name__ == "__main__":
    write_attention()
    write_multi_head()
    write_normalization()
    write_functions()
    write_optimised()
    write_learned()
    write_grids()
    write_rearranged()
    write_deformed()
    write_bits()
    write_bands()
    write_machines()
