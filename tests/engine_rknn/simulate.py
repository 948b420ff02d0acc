"""The toolkit's simulator behind the stand-in for librknnrt.so: simulate.py FOLDER.

The folder is one that the engine kept. It is converted again, as the simulator runs only what was
converted in the same process. Then each set of inputs on standard input is answered with outputs,
all float32. Pictures that come in have their channels last."""

import os
import sys

import numpy


def put_numbers(out, numbers):
    out.write(numpy.array([len(numbers), *numbers], numpy.uint32).tobytes())


def shape_of(value):
    return [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]


def channels_last(shape):
    return [shape[0], shape[2], shape[3], shape[1]] if len(shape) == 4 else shape


def describe(out, folder):
    import onnx

    graph = onnx.load(os.path.join(folder, "model.onnx")).graph
    inputs = [shape_of(value) for value in graph.input]
    outputs = [shape_of(value) for value in graph.output]
    put_numbers(out, [len(inputs), len(outputs)])
    for shape in inputs + outputs:
        put_numbers(out, shape)
    out.flush()
    return inputs


def read_inputs(source, shapes):
    values = []
    for shape in map(channels_last, shapes):
        data = source.read(4 * int(numpy.prod(shape)))
        if not data:
            return None
        values.append(numpy.frombuffer(data, numpy.float32).reshape(shape))
    return values


def main():
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the toolkit prints
    folder = os.path.abspath(sys.argv[1])
    sys.path.insert(0, folder)
    import convert

    rknn = convert.build(folder)
    assert rknn.init_runtime() == 0
    shapes = describe(out, folder)
    while (values := read_inputs(sys.stdin.buffer, shapes)) is not None:
        for result in rknn.inference(values, data_format=["nhwc"] * len(values)):
            out.write(numpy.ascontiguousarray(result, numpy.float32).tobytes())
        out.flush()


if __name__ == "__main__":
    main()
