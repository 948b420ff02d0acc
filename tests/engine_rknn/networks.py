#!/usr/bin/env python3
"""A network through the engine rknn, beside what the toolkit's own Python makes of it.

  networks.py NETWORK --millrace FILE --source FOLDER --engine FILE --stand-in FILE

The network is planned for an RK3588 that is not here, bundled, and run: the NPU's part by the
toolkit's simulator behind the stand-in for librknnrt.so. Ends with 77 where the toolkit, which
MILLRACE_RKNN_PYTHON names, or the network is not there."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

VERSION = "2.5.0"  # of the stand-in
SKIPPED = 77
ASKED = "import importlib.metadata as packages; print(packages.version('rknn-toolkit2'))"
MOST_ERROR_OF_FLOAT16 = 2e-3  # of the largest value, against the toolkit's own float16
MOST_MORE_ERROR = 1.1  # in int8, times the toolkit's own


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def toolkit_python():
    python = os.environ.get("MILLRACE_RKNN_PYTHON", "python3")
    asked = subprocess.run([python, "-c", ASKED], capture_output=True, text=True, check=False)
    found = asked.stdout.strip()
    if found != VERSION:
        skip(f"needs rknn-toolkit2 {VERSION} in {python}, found {found or 'none'}")
    return python


class Bench:
    def __init__(self, given):
        self.given = given
        self.engine = ["--engine-library", f"rknn={given.engine}"]
        os.environ["MILLRACE_RKNN_KEEP"] = os.path.abspath("kept")
        os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
        self.model = self.find_model()

    def millrace(self, *words, here=False):
        """Its standard output. `here`: with the stand-in, as if this were the board."""
        settings = dict(os.environ)
        if here:
            settings["MILLRACE_RKNN_RUNTIME"] = self.given.stand_in
        done = subprocess.run([self.given.millrace, *words], env=settings, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def find_model(self):
        name = self.given.network
        file = pathlib.Path(self.given.source).parent / "shared/models/onnx" / f"{name}.onnx"
        if file.exists():
            return str(file)
        if name == "yolox_nano":
            skip(f"needs {file}")
        self.millrace("zoo", name, "-o", f"{name}.onnx")
        return f"{name}.onnx"

    def plan(self, name, *words):
        self.millrace("plan", self.model, "--board", "rk3588", "--engine", "onednn,rknn",
                      *self.engine, *words, "-o", f"{name}.plan.json")
        self.millrace("bundle", f"{name}.plan.json", *self.engine, "-o", name)
        return len(list(pathlib.Path(name, "blobs").glob("rknn-*.blob")))

    def run(self, name):
        import numpy

        self.millrace("run", f"{name}/{name}.plan.json", *self.engine, "--weights", "random",
                      "--input", "test.npy", "-o", f"{name}.npy", here=True)
        return numpy.load(f"{name}.npy")


def make_frames(model):
    """For calibration, and for the comparison."""
    import numpy
    import onnx

    value = onnx.load(model).graph.input[0]
    shape = [size.dim_value for size in value.type.tensor_type.shape.dim][1:]
    high = 255 if "yolox" in model else 1
    random = numpy.random.default_rng(7)
    calibration, test = (random.uniform(-1 if high == 1 else 0, high, (count, *shape))
                         .astype(numpy.float32) for count in (4, 2))
    numpy.save("calibration.npy", calibration)
    numpy.save("test.npy", test)
    return calibration, test, value.name


def reference(model, test, name):
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(model)
    return numpy.concatenate([session.run(None, {name: frame[None]})[0] for frame in test])


def toolkit(model, calibration, test):
    """As its manual says; without calibration in float16."""
    import numpy
    from rknn.api import RKNN

    rknn = RKNN(verbose=False)
    rknn.config(target_platform="rk3588")
    rknn.load_onnx(model=model)
    for i, frame in enumerate(calibration):
        numpy.save(f"own{i}.npy", frame[None])
    pathlib.Path("own.txt").write_text("".join(f"own{i}.npy\n" for i in range(len(calibration))))
    is_int8 = len(calibration) > 0
    rknn.build(do_quantization=is_int8, dataset="own.txt" if is_int8 else None)
    rknn.init_runtime()
    return numpy.concatenate(
        [rknn.inference([frame[None]], data_format=["nchw"])[0] for frame in test])


def error(found, expected):
    """The root mean square of the difference, as a share of that of the values."""
    import numpy

    difference = found.reshape(expected.shape).astype(float) - expected
    return float(numpy.sqrt((difference**2).mean() / (expected.astype(float) ** 2).mean()))


def check_whole(bench, calibration, test, expected):
    """All layers on one core of the NPU."""
    import numpy

    blobs = bench.plan("float16", "--devices", "npu0", "--precision", "f16")
    blobs += bench.plan("int8", "--devices", "npu0", "--precision", "f16,int8", "--calibration",
                        "calibration.json")
    assert blobs == 2, f"{blobs} blobs"
    own = toolkit(bench.model, [], test).reshape(expected.shape)
    ours = bench.run("float16").reshape(expected.shape)
    difference = float(numpy.abs(ours - own).max() / numpy.abs(expected).max())
    print(f"float16: {difference:.2g} of the largest value from the toolkit's own")
    own_error = error(toolkit(bench.model, calibration, test), expected)
    our_error = error(bench.run("int8"), expected)
    print(f"int8: error {our_error:.4f}, the toolkit's own {own_error:.4f}")
    assert difference <= MOST_ERROR_OF_FLOAT16
    assert our_error <= MOST_MORE_ERROR * own_error


def check_mixed(bench, expected):
    """NPU and cores together."""
    # Replicas of one stage on cores and the NPU would have one engine, and be simulated.
    blobs = bench.plan("mixed", "--precision", "f32,f16", "--search", "genetic")
    stages = json.loads(pathlib.Path("mixed.plan.json").read_text())["stages"]
    engines = {stage["engine"] for stage in stages}
    assert engines == {"rknn", "simulated"} and blobs >= 1, (engines, blobs)
    bench.millrace("simulate", "mixed.plan.json")
    our_error = error(bench.run("mixed"), expected)
    print(f"mixed: {blobs} blobs, error {our_error:.4f}")
    assert our_error < 0.05


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("network")
    for name in ("millrace", "source", "engine", "stand-in"):
        parser.add_argument("--" + name, required=True)
    given = parser.parse_args()
    python = toolkit_python()
    if os.environ.get("MILLRACE_RKNN_PYTHON") != sys.executable:
        os.environ["MILLRACE_RKNN_PYTHON"] = found = subprocess.run(
            [python, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True,
            check=True).stdout.strip()
        os.execv(found, [found, *sys.argv])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        bench = Bench(given)
        calibration, test, name = make_frames(bench.model)
        bench.millrace("calibrate", bench.model, "--input", "calibration.npy", "--method", "minmax",
                       "-o", "calibration.json")
        expected = reference(bench.model, test, name)
        check_whole(bench, calibration, test, expected)
        check_mixed(bench, expected)


if __name__ == "__main__":
    main()
