#!/usr/bin/env python3
"""Writes quantised_cases: models of one operator of ONNX Runtime's quantiser, or with weights of few
bits, with inputs and what ONNX Runtime makes of them, as ONNX keeps its own cases.

  pip install onnx onnxruntime numpy
  tests/formats/onnx/write_quantised_cases.py
"""
from pathlib import Path

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).parent / "quantised_cases"
RANDOM = numpy.random.RandomState(7)


def integers(shape, kind="uint8"):
    low, high = (0, 256) if kind == "uint8" else (-128, 128)
    return RANDOM.randint(low, high, shape).astype(kind)


def scale(value):
    return numpy.array(value, "float32")


def zero(value, kind="uint8"):
    return numpy.array(value, kind)


def write(name, operator, inputs, free=1, result="uint8", **attributes):
    """The first `free` of the inputs that are tensors are given, the others are constants."""
    graph_inputs, constants, given = [], [], []
    names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
    for input_name, value in zip(names, inputs):
        if value is None:
            continue
        if value.ndim > 1 and len(given) < free:
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            graph_inputs.append(helper.make_tensor_value_info(input_name, kind, value.shape))
            given.append((input_name, value))
        else:
            constants.append(numpy_helper.from_array(value, input_name))
    node = helper.make_node(operator, names, ["y"], domain="com.microsoft", name=name, **attributes)
    kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(result))
    output = helper.make_tensor_value_info("y", kind, None)
    graph = helper.make_graph([node], name, graph_inputs, [output], constants)
    write_model(name, graph, given, 17)


def write_model(name, graph, given, opset):
    model = helper.make_model(graph, ir_version=10 if opset > 17 else 8, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    if opset > 17:  # else it rounds what is multiplied with 4 bits to 8 bits
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    [answer] = session.run(None, dict(given))
    folder = FOLDER / name / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "model.onnx").write_bytes(model.SerializeToString())
    for i, (input_name, value) in enumerate(given):
        tensor = numpy_helper.from_array(value, input_name)
        (folder / f"input_{i}.pb").write_bytes(tensor.SerializeToString())
    (folder / "output_0.pb").write_bytes(numpy_helper.from_array(answer, "y").SerializeToString())


def write_elements():
    a, b = scale(0.037), scale(0.021)
    for kind in ("uint8", "int8"):
        z = zero(100 if kind == "uint8" else -9, kind)
        x, y = integers((2, 3, 4), kind), integers((2, 3, 4), kind)
        result = dict(result=kind)
        write(f"add_{kind}", "QLinearAdd", [x, a, z, y, b, z, scale(0.05), z], 2, **result)
        write(f"mul_{kind}", "QLinearMul", [x, a, z, y, b, z, scale(0.11), z], 2, **result)
        write(f"leaky_relu_{kind}", "QLinearLeakyRelu", [x, a, z, scale(0.031), z], alpha=0.3,
              **result)
        write(f"sigmoid_{kind}", "QLinearSigmoid", [x, a, z, scale(1 / 256), zero(0, kind)],
              **result)
        write(f"softmax_{kind}", "QLinearSoftmax", [x, a, z, scale(1 / 256), zero(0, kind)],
              axis=-1, opset=13, **result)
    write("add_broadcast", "QLinearAdd", [integers((2, 3, 4)), a, zero(7), integers((3, 1)), b,
                                          zero(9), scale(0.06), zero(3)])


def write_pools():
    x, a, z = integers((2, 3, 5, 7)), scale(0.05), zero(90)
    write("global_average_pool", "QLinearGlobalAveragePool", [x, a, z, scale(0.0213), zero(120)])
    write("global_average_pool_last", "QLinearGlobalAveragePool",
          [integers((2, 5, 7, 3)), a, z, scale(0.0213), zero(120)], channels_last=1)
    for count in (0, 1):
        write(f"average_pool_{count}", "QLinearAveragePool", [x, a, z, scale(0.0387), zero(95)],
              kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], count_include_pad=count)
    parts = [integers((1, channels, 2, 3)) for channels in (2, 1, 4)]
    write("concat", "QLinearConcat", [scale(0.04), zero(60), parts[0], a, z, parts[1], scale(0.04),
                                      zero(60), parts[2], scale(0.01), zero(0)], 3, axis=1)


def write_products():
    x, w, bias = integers((3, 8)), integers((8, 5), "int8"), RANDOM.randint(-3000, 3000, 5)
    head = [x, scale(0.02), zero(120), w, scale(0.01), zero(0, "int8")]
    tail = [scale(0.05), zero(128)]
    bias = bias.astype("int32")
    write("gemm", "QGemm", [*head, bias, *tail])
    write("gemm_without_bias", "QGemm", [*head, None, *tail])
    write("gemm_of_numbers", "QGemm", [*head, bias], result="float32")
    write("gemm_transposed", "QGemm", [integers((8, 3)), *head[1:3], integers((5, 8), "int8"),
                                       *head[4:], bias, *tail], transA=1, transB=1)
    by_column = RANDOM.uniform(0.005, 0.02, 5).astype("float32")
    write("gemm_by_column", "QGemm", [*head[:3], integers((5, 8), "int8"), by_column,
                                      numpy.zeros(5, "int8"), bias, *tail], transB=1)
    numbers = RANDOM.uniform(-2, 2, (2, 3, 4)).astype("float32")
    write("quantize", "QuantizeLinear", [numbers, scale(0.015), zero(128)])
    write("dequantize", "DequantizeLinear", [integers((2, 3, 4)), scale(0.015), zero(128)],
          result="float32")


def write_few_bits():
    """Of rows that do not fill their last block."""
    numbers = RANDOM.uniform(-1, 1, (2, 3, 40)).astype("float32")
    for bits in (4, 8):
        width, blocks, columns = 16, 3, 6
        packed = integers((columns, blocks, width * bits // 8))
        scales = RANDOM.uniform(0.01, 0.1, columns * blocks).astype("float32")
        zeros = integers(columns * ((blocks * bits + 7) // 8))
        bias = RANDOM.uniform(-1, 1, columns).astype("float32")
        shape = dict(K=40, N=columns, bits=bits, block_size=width, result="float32")
        write(f"product_of_{bits}_bits", "MatMulNBits", [numbers, packed, scales, zeros], **shape)
        write(f"product_of_{bits}_bits_symmetric", "MatMulNBits", [numbers, packed, scales], **shape)
        write(f"product_of_{bits}_bits_with_bias", "MatMulNBits",
              [numbers, packed, scales, zeros, None, bias], **shape)


def write_stored_types():
    """A product with weights of 4 bits as ONNX has them, or of bfloat16."""
    x = RANDOM.uniform(-1, 1, (3, 9)).astype("float32")
    value = RANDOM.uniform(0.01, 0.1, (3, 5)).astype("float32")
    info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    output = [helper.make_tensor_value_info("y", TensorProto.FLOAT, (3, 5))]
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    for kind, low in ((TensorProto.INT4, -8), (TensorProto.UINT4, 0)):
        text = TensorProto.DataType.Name(kind).lower()
        for form, scales, options in (("whole", value[0, 0], {}), ("by_column", value[0], {"axis": 1}),
                                      ("in_blocks", value, {"axis": 0, "block_size": 3})):
            steps = RANDOM.randint(low, low + 16, 9 * 5)
            zeros = RANDOM.randint(low, low + 16, scales.size)
            constants = [helper.make_tensor("q", kind, (9, 5), steps),
                         numpy_helper.from_array(numpy.array(scales), "s"),
                         helper.make_tensor("z", kind, scales.shape, zeros)]
            node = helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], **options)
            graph = helper.make_graph([node, product], text, info, output, constants)
            write_model(f"{text}_{form}", graph, [("x", x)], 21)
    weights = helper.make_tensor("h", TensorProto.BFLOAT16, (9, 5), RANDOM.uniform(-1, 1, 45))
    node = helper.make_node("Cast", ["h"], ["w"], to=TensorProto.FLOAT)
    write_model("bfloat16", helper.make_graph([node, product], "bfloat16", info, output, [weights]),
                [("x", x)], 21)


if __name__ == "__main__":
    write_elements()
    write_pools()
    write_products()
    write_few_bits()
    write_stored_types()
