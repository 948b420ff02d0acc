"""ncnn, with models that pnnx converts: one net on all cores, or one inference per core."""
import importlib.util
import subprocess
from pathlib import Path

import ncnn
import numpy

from . import lanes
from .failed import Failed, reason_of

VERSION = f"ncnn {ncnn.__version__}"


def _program():
    # Importing the package would ask for PyTorch; the program in it needs nothing.
    package = importlib.util.find_spec("pnnx")
    if package is None:
        raise Failed("pnnx, which converts models for ncnn, is not installed")
    return Path(package.submodule_search_locations[0]) / "pnnx"


def _convert(model, folder, frames):
    """Gives the two files that ncnn reads."""
    folder.mkdir(parents=True, exist_ok=True)
    param, weights = folder / "model.ncnn.param", folder / "model.ncnn.bin"
    if param.exists() and param.stat().st_mtime > model.stat().st_mtime:
        return param, weights
    copy = folder / "model.onnx"  # pnnx writes beside what it reads
    copy.unlink(missing_ok=True)
    copy.symlink_to(model.resolve())
    shapes = ",".join(str([1, *values.shape[1:]]).replace(" ", "") for values in frames.values())
    done = subprocess.run([_program(), copy.name, f"inputshape={shapes}", "fp16=0"], cwd=folder,
                          capture_output=True, text=True, errors="replace")
    if done.returncode != 0 or not param.exists():
        raise Failed(f"pnnx cannot convert the model: {reason_of(done.stdout + done.stderr)}")
    return param, weights


def _open(files, threads, precision):
    net = ncnn.Net()
    net.opt.num_threads = threads
    half = precision == "f16"  # ncnn's own default
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = half
    if net.load_param(str(files[0])) != 0 or net.load_model(str(files[1])) != 0:
        raise Failed("ncnn cannot load the converted model")
    return net


class Session:
    """task["setting"]: "all cores" or "per core"."""

    def __init__(self, task, frames):
        model = Path(task["model"])
        self._batch = task["batch"]
        cores = task["cores"]
        shared = task["setting"] == "all cores"
        self._net = _open(_convert(model, model.parent / "ncnn" / model.stem, frames),
                          len(cores) if shared else 1, task["precision"])
        first = [values[0] for values in frames.values()]
        places = [cores] if shared else [[core] for core in cores]
        self._lanes = [(place, lambda: self._run(first)) for place in places]

    def _run(self, arrays):
        extractor = self._net.create_extractor()
        for name, array in zip(self._net.input_names(), arrays):
            extractor.input(name, ncnn.Mat(array))
        status, output = extractor.extract(self._net.output_names()[0])
        if status != 0:
            raise Failed(f"ncnn cannot run the model (status {status})")
        return output

    def answer(self, feed):
        return numpy.array(self._run([values[0] for values in feed.values()]))

    def slice(self, seconds, warmup):
        return lanes.slice_of(*lanes.measure(self._lanes, seconds, warmup), self._batch)
