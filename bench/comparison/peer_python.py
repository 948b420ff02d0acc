"""Millrace through its Python module: frames through Session.map, as many on their way as the plan holds."""
import itertools
import sys
import time

import numpy

VERSION = f"Python {sys.version.split()[0]}"


class Session:
    """task["package"]: the folder with the package millrace; task["plan"]: the plan's file."""

    def __init__(self, task, frames):
        sys.path.insert(0, task["package"])
        import millrace
        plan = millrace.Plan(task["plan"])
        self._output = plan.model.outputs[0].name
        self._session = plan.session()
        self._frame = {name: numpy.ascontiguousarray(values[:1]) for name, values in frames.items()}

    def answer(self, feed):
        return self._session.run(feed)[self._output]

    def slice(self, seconds, warmup):
        """From one result to another one, while the pipeline is full."""
        ended = False
        latencies, begin, now = [], None, time.perf_counter()
        warm = now + warmup
        frames = itertools.takewhile(lambda _: not ended, itertools.repeat(self._frame))
        for outputs in self._session.map(frames):
            if ended:
                continue
            now = time.perf_counter()
            if begin is not None:
                latencies.append(round(1000 * outputs.latency, 4))
                ended = now - begin >= seconds
            elif now >= warm:
                begin = now
        return {"frames": len(latencies), "elapsed_s": now - begin, "latencies_ms": latencies}
