"""Runs a model twice and asks the emulator's plug-in before and after the second run:
peer_in_emulator.py PACKAGES PEER MODEL.onnx FILE..."""
import ctypes
import sys

packages, peer, model, *files = sys.argv[1:]
sys.path.insert(0, packages)
import numpy  # noqa: E402

question = ctypes.CDLL(None).syscall


def random(shape):
    return numpy.random.default_rng(5).uniform(-1, 1, shape).astype(numpy.float32)


def of_onnxruntime():
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {one.name: random(one.shape) for one in session.get_inputs()}
    return lambda: session.run(None, feed)


def shapes_in_model():
    """Of the inputs, from the converted model's header: ncnn itself knows none."""
    with open(files[0].replace(".ncnn.param", ".pnnx.param")) as lines:
        for line in lines:
            words = line.split()
            if words[0] == "pnnx.Input":
                shape = words[-1].partition("(")[2].partition(")")[0]
                yield [int(size) for size in shape.split(",")]


def of_ncnn():
    import ncnn
    net = ncnn.Net()
    net.opt.num_threads = 1
    half = peer.endswith("f16")
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = half
    if net.load_param(files[0]) != 0 or net.load_model(files[1]) != 0:
        sys.exit("ncnn cannot load the converted model")
    # A copy, as a Mat only borrows what an array holds. It has no batch.
    inputs = [ncnn.Mat(random(shape[1:])).clone() for shape in shapes_in_model()]

    def run():
        extractor = net.create_extractor()
        for name, value in zip(net.input_names(), inputs):
            extractor.input(name, value)
        for name in net.output_names():
            if extractor.extract(name)[0] != 0:
                sys.exit("ncnn cannot run the model")
    return run


run = of_onnxruntime() if peer == "onnxruntime" else of_ncnn()
run()
question(0x5eed)
run()
question(0x5eed)
