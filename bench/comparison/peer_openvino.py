"""OpenVINO on its CPU device, with one of its two hints."""
import numpy
import openvino

from . import lanes
from .failed import Failed

VERSION = f"OpenVINO {openvino.get_version().partition('-')[0]}"
NEEDS = {"bf16": "BF16"}


class Session:
    """task["setting"]: "latency" or "throughput", the hint."""

    def __init__(self, task, frames):
        self._batch = task["batch"]
        alone = task["setting"] == "latency"
        precision = task["precision"]
        core = openvino.Core()
        needed = NEEDS.get(precision)
        if needed and needed not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            raise Failed(f"OpenVINO does not offer {precision} on this processor")
        compiled = core.compile_model(task["model"], "CPU", {
            "PERFORMANCE_HINT": task["setting"].upper(),
            "INFERENCE_PRECISION_HINT": precision,
            "INFERENCE_NUM_THREADS": len(task["cores"])})
        used = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        if used != precision:
            raise Failed(f"OpenVINO took {used} instead of {precision}")
        cores = task["cores"]
        count = compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        requests = [compiled.create_infer_request() for _ in range(1 if alone else count)]
        self._first = requests[0]
        self._lanes = [(cores, self._runner(request, frames)) for request in requests]

    def _runner(self, request, frames):
        for name, values in frames.items():  # copied once; running again copies nothing
            tensor = request.get_tensor(name)
            tensor.data[:] = numpy.resize(values, tensor.data.shape)

        def run():
            request.start_async()
            request.wait()
        return run

    def answer(self, feed):
        return numpy.array(self._first.infer(feed)[0])

    def slice(self, seconds, warmup):
        return lanes.slice_of(*lanes.measure(self._lanes, seconds, warmup), self._batch)
