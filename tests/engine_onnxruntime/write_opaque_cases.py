#!/usr/bin/env python3
"""Writes opaque_cases: models with operators that are not Millrace's own, with inputs and what ONNX Runtime makes of the
whole model, as ONNX keeps its own cases.

  pip install onnx onnxruntime numpy
  tests/engine_onnxruntime/write_opaque_cases.py
"""
import sys
from pathlib import Path

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).parent / "opaque_cases"
RANDOM = numpy.random.RandomState(7)
ML = "ai.onnx.ml"


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def write(name, nodes, given, constants=(), outputs=("y",), opset=19):
    """`given` and `constants`: values by name."""
    def info(key, value):
        return helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
    given = dict(given)
    graph = helper.make_graph(nodes, name, [info(key, value) for key, value in given.items()],
                              [helper.make_empty_tensor_value_info(each) for each in outputs],
                              [numpy_helper.from_array(value, key) for key, value in dict(constants).items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid(ML, 3)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    answers = session.run(list(outputs), given)
    answers = [numpy.array([list(row.values()) for row in each], "float32") if isinstance(each, list) else each for each in answers]
    for each, answer in zip(model.graph.output, answers):
        each.CopyFrom(info(each.name, answer))
    folder = FOLDER / name / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "model.onnx").write_bytes(model.SerializeToString())
    for kind, values in (("input", given.items()), ("output", zip(outputs, answers))):
        for i, (key, value) in enumerate(values):
            (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(value, key).SerializeToString())


def write_one(name, operator, inputs, free=1, outputs=("y",), domain="", opset=19, **attributes):
    names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
    pairs = [(key, value) for key, value in zip(names, inputs) if value is not None]
    node = helper.make_node(operator, names, list(outputs), domain=domain, name=name, **attributes)
    write(name, [node], pairs[:free], pairs[free:], [each for each in outputs if each], opset)


def write_vision():
    """Of float64: Millrace has it of float32."""
    x, weights, offset, bias, mask = [each.astype("float64") for each in (
        numbers(1, 4, 6, 6), numbers(6, 2, 3, 3), numbers(1, 36, 6, 6), numbers(6), numbers(1, 18, 6, 6))]
    sizes = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=2, offset_group=2)
    write_one("deform", "DeformConv", [x, weights, offset, bias], 4, **sizes)
    write_one("deform_mask", "DeformConv", [x, weights, offset, None, mask], 4, **sizes)
    write("deform_among_others", [
        helper.make_node("Conv", ["x", "w0"], ["a"], name="before", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "w1"], ["b"], name="offsets", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Cast", ["a"], ["wide"], name="wide", to=TensorProto.DOUBLE),
        helper.make_node("Cast", ["b"], ["offset"], name="wide_offsets", to=TensorProto.DOUBLE),
        helper.make_node("DeformConv", ["wide", "w2", "offset"], ["d"], name="deform", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Cast", ["d"], ["narrow"], name="narrow", to=TensorProto.FLOAT),
        helper.make_node("Relu", ["narrow"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["y"], name="pool")],
        {"x": numbers(1, 3, 8, 8)}, {"w0": numbers(4, 3, 3, 3), "w1": numbers(18, 4, 3, 3), "w2": numbers(5, 4, 3, 3).astype("float64")})


def write_language():
    heads, keys, size, past, all_keys = 4, 2, 16, 3, 4
    query, key, value = numbers(1, 1, heads * size), numbers(1, 1, keys * size), numbers(1, 1, keys * size)
    cache = [numbers(1, keys, past, size), numbers(1, keys, past, size)]
    lengths = [numpy.array([all_keys - 1], "int32"), numpy.array(all_keys, "int32")]
    angles = numpy.outer(numpy.arange(16), 1 / 10 ** numpy.arange(8)).astype("float32")
    attributes = dict(num_heads=heads, kv_num_heads=keys, domain="com.microsoft")
    names = ("y", "present_key", "present_value")
    write_one("group_query", "GroupQueryAttention", [query, key, value, *cache, *lengths], 5, names, **attributes)
    write_one("group_query_rotated", "GroupQueryAttention",
              [query, key, value, *cache, *lengths, numpy.cos(angles), numpy.sin(angles)], 5, names, do_rotary=1, **attributes)
    halves = [each.astype("float16") for each in (query, key, value, *cache)]
    write_one("group_query_of_halves", "GroupQueryAttention", [*halves, *lengths], 5, names, **attributes)
    write_one("tensor_scatter", "TensorScatter", [numbers(2, 5, 3), numbers(2, 2, 3), numpy.array([1, 3], "int64")], 3,
              opset=24, axis=1)
    write_one("repeated_words", "NGramRepeatBlock", [numpy.array([[1, 2, 3, 1, 2]], "int64"), numbers(1, 6)], 2,
              domain="com.microsoft", ngram_size=3)


def write_loops():
    body = helper.make_graph(
        [helper.make_node("MatMul", ["state", "w"], ["turned"]), helper.make_node("Add", ["turned", "row"], ["next"]),
         helper.make_node("Tanh", ["next"], ["out"])], "body",
        [helper.make_tensor_value_info("state", TensorProto.FLOAT, [1, 4]), helper.make_tensor_value_info("row", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 4]), helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 4])])
    scan = helper.make_node("Scan", ["start", "rows"], ["last", "y"], name="scan", body=body, num_scan_inputs=1)
    write("scan", [scan], {"start": numbers(1, 4), "rows": numbers(5, 1, 4)}, {"w": numbers(4, 4)}, ("last", "y"))
    write("scan_reads_outside", [helper.make_node("Relu", ["w0"], ["w"], name="relu"), scan],
          {"w0": numbers(4, 4), "start": numbers(1, 4), "rows": numbers(5, 1, 4)}, (), ("last", "y"))


def tree(targets):
    """Two trees of depth one and two."""
    return {"nodes_treeids": [0, 0, 0, 1, 1, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 0, 1, 2, 3, 4],
            "nodes_featureids": [0, 0, 0, 1, 2, 0, 0, 0], "nodes_values": [0.1, 0, 0, -0.2, 0.3, 0, 0, 0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
            "nodes_truenodeids": [1, 0, 0, 1, 3, 0, 0, 0], "nodes_falsenodeids": [2, 0, 0, 2, 4, 0, 0, 0],
            f"{targets}_treeids": [0, 0, 1, 1, 1], f"{targets}_nodeids": [1, 2, 2, 3, 4], f"{targets}_ids": [0, 1, 2, 0, 1],
            f"{targets}_weights": [0.7, 0.4, 0.9, -0.3, 0.2], "domain": ML}


def write_learned():
    x = numbers(6, 3)
    write_one("forest", "TreeEnsembleClassifier", [x], 1, ("label", "scores"), classlabels_int64s=[4, 2, 9],
              post_transform="SOFTMAX", **tree("class"))
    write_one("forest_of_values", "TreeEnsembleRegressor", [x], n_targets=3, **tree("target"))
    named = helper.make_node("TreeEnsembleClassifier", ["x"], ["names", "y"], name="forest", classlabels_strings=["a", "b", "c"], **tree("class"))
    write("forest_of_unread_names", [named], {"x": x})
    scored = helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "scores"], name="forest", classlabels_int64s=[2, 4, 9], **tree("class"))
    mapped = helper.make_node("ZipMap", ["scores"], ["y"], name="map", domain=ML, classlabels_int64s=[2, 4, 9])
    write("forest_of_maps", [scored, mapped], {"x": x}, (), ("label", "y"))
    support = [float(each) for each in numbers(15)]
    machine = dict(kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0], support_vectors=support, domain=ML)
    write_one("machine", "SVMClassifier", [x], 1, ("label", "scores"), classlabels_ints=[3, 8], vectors_per_class=[2, 3],
              coefficients=[float(each) for each in numbers(5)], rho=[0.1], **machine)
    write_one("normalizer", "Normalizer", [x], domain=ML, norm="L1")
    write_one("one_hot", "OneHotEncoder", [numpy.array([3, 1, 7], "int64")], domain=ML, cats_int64s=[1, 3, 5])
    write_one("imputer", "Imputer", [numpy.array([[1, numpy.nan], [numpy.nan, 2]], "float32")], domain=ML,
              imputed_value_floats=[0.5, 0.25], replaced_value_float=float("nan"))


def write_varying():
    write_one("unique", "Unique", [numpy.array([2, 1, 1, 3, 4, 3], "float32")], 1, ("y", "first", "where", "counts"))
    write("unique_in_the_middle", [
        helper.make_node("Unique", ["x"], ["u"], name="unique"), helper.make_node("Gather", ["table", "u"], ["g"], name="look"),
        helper.make_node("ReduceSum", ["g"], ["y"], name="sum", keepdims=0)],
        {"x": numpy.array([2, 1, 1, 3, 4, 3], "int64")}, {"table": numbers(5, 3)})
    write_one("unique_rows", "Unique", [numpy.array([[1, 0], [1, 0], [2, 3]], "int64")], axis=0)


def write_halves():
    write_one("half", "Inverse", [numpy.eye(4, dtype="float16") * 2 + numbers(4, 4).astype("float16")], domain="com.microsoft")
    write_one("doubles", "Inverse", [(numpy.eye(3) * 2 + numbers(3, 3)).astype("float64")], domain="com.microsoft")


if __name__ == "__main__":
    write_vision()
    write_language()
    write_loops()
    write_learned()
    write_varying()
    write_halves()
