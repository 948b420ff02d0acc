"""ONNX Runtime: one session on all cores, or one session per core."""
import numpy
import onnxruntime

from . import lanes

VERSION = f"ONNX Runtime {onnxruntime.__version__}"


def _open(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class Session:
    """task["setting"]: "all cores" or "per core"."""

    def __init__(self, task, frames):
        self._batch = task["batch"]
        cores = task["cores"]
        shared = task["setting"] == "all cores"
        places = [cores] if shared else [[core] for core in cores]
        self._sessions = [_open(task["model"], len(place)) for place in places]
        self._outputs = [output.name for output in self._sessions[0].get_outputs()]
        feed = {name: numpy.resize(values, (self._batch, *values.shape[1:]))
                for name, values in frames.items()}
        self._lanes = [(place, self._runner(session, feed))
                       for place, session in zip(places, self._sessions)]

    def _runner(self, session, feed):
        values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(array))
                  for name, array in feed.items()}
        return lambda: session.run_with_ort_values(self._outputs, values)

    def answer(self, feed):
        return self._sessions[0].run(self._outputs[:1], feed)[0]

    def slice(self, seconds, warmup):
        return lanes.slice_of(*lanes.measure(self._lanes, seconds, warmup), self._batch)
