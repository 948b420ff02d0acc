#!/usr/bin/env python3
"""Writes fused_cases: models of one operator into which ONNX Runtime's optimisers fuse others, with
inputs and what ONNX Runtime makes of them, as ONNX keeps its own cases.

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


def write(name, operator, inputs, free=1, outputs=("y",), **attributes):
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
    node = helper.make_node(operator, names, list(outputs), domain="com.microsoft", name=name, **attributes)
    wanted = [each for each in outputs if each]
    graph = helper.make_graph([node], name, graph_inputs, [helper.make_empty_tensor_value_info(each) for each in wanted],
                              constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
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


if __name__ == "__main__":
    write_attention()
    write_multi_head()
    write_normalization()
    write_functions()
