"""Closed loops: each lane is a thread that runs one batch after the other."""
import os
import threading
import time


def measure(lanes, seconds, warmup):
    """lanes: pairs of the cores that a lane may use and a function that runs one batch. Gives the
    batches of all lanes, how long one after the other they would have taken at the joint rate, and
    the latency of each. Every lane runs at least one batch."""
    together = threading.Barrier(len(lanes))
    found, failures = [None] * len(lanes), []

    def loop(i, cores, run):
        try:
            os.sched_setaffinity(0, cores)  # of this thread
            _run_for(run, warmup)
            together.wait()
            found[i] = _run_for(run, seconds)
        except BaseException as failure:  # handed on to the thread that waits
            failures.append(failure)
            together.abort()

    threads = [threading.Thread(target=loop, args=(i, *lane)) for i, lane in enumerate(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    batches = sum(len(latencies) for latencies, _ in found)
    rate = sum(len(latencies) / elapsed for latencies, elapsed in found)
    return batches, batches / rate, [latency for latencies, _ in found for latency in latencies]


def _run_for(run, seconds):
    latencies = []
    start = before = time.perf_counter()
    while True:
        run()
        now = time.perf_counter()
        latencies.append(now - before)
        before = now
        if now - start >= seconds:
            return latencies, now - start


def slice_of(batches, elapsed, latencies, batch):
    """As workers answer: frames, not batches."""
    return {"frames": batches * batch, "elapsed_s": elapsed,
            "latencies_ms": [round(1000 * latency, 4) for latency in latencies]}
