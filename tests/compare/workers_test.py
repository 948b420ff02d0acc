#!/usr/bin/env python3
"""bench/compare: workers and closed loops, with the command and with programs made up here.
The first argument is the millrace command."""
import os
import sys
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from comparison import lanes, machine  # noqa: E402
from comparison.failed import Failed  # noqa: E402
from comparison.worker import Worker  # noqa: E402

MILLRACE = sys.argv[1]
CORES = sorted(os.sched_getaffinity(0))


def worker(program):
    return Worker([sys.executable, "-c", program], CORES[:1])


class Workers(unittest.TestCase):
    def test_the_command_runs_slices_on_request(self):
        found = Worker([MILLRACE, "bench", ROOT / "models/digits.onnx", "--on-request", "--warmup",
                        "0.01"], CORES)
        self.addCleanup(found.close)
        for seconds in (0.01, 0.03):
            piece = found.run(seconds)
            self.assertGreaterEqual(piece["elapsed_s"], seconds)
            self.assertEqual(piece["frames"], len(piece["latencies_ms"]))

    def test_a_worker_has_only_its_cores(self):
        found = worker("import os; print(sorted(os.sched_getaffinity(0)))")
        self.addCleanup(found.close)
        self.assertEqual(found.opened, CORES[:1])

    def test_a_worker_that_does_not_start_says_why(self):
        with self.assertRaisesRegex(Failed, "ValueError: no such network"):
            worker("raise ValueError('no such network')")

    def test_a_worker_that_ends_during_a_slice_says_why(self):
        found = worker("print('{}', flush=True); input(); raise MemoryError('all gone')")
        self.addCleanup(found.close)
        with self.assertRaisesRegex(Failed, "MemoryError: all gone"):
            found.run(0.1)

    def test_a_worker_that_ends_without_a_word_is_noticed(self):
        found = worker("print('{}', flush=True); input(); import os; os._exit(3)")
        self.addCleanup(found.close)
        with self.assertRaisesRegex(Failed, "exit code 3"):
            found.run(0.1)

    def test_a_sleeping_worker_works_nothing(self):
        found = worker("print('{}', flush=True); input()")
        self.addCleanup(found.close)
        before = machine.process_seconds(found.pid)
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        self.assertLess(machine.process_seconds(found.pid), before + 0.1)
        self.assertGreaterEqual(machine.process_seconds(os.getpid()), 0.2)


class Lanes(unittest.TestCase):
    def test_rates_of_lanes_add_up(self):
        """Each lane waits 10 ms per batch, so two make about 200 a second."""
        waits = threading.Event()
        lane = (CORES, lambda: waits.wait(0.01))
        batches, elapsed, latencies = lanes.measure([lane, lane], 0.2, 0.0)
        self.assertEqual(batches, len(latencies))
        self.assertLessEqual(batches / elapsed, 200)
        self.assertGreaterEqual(min(latencies), 0.01)

    def test_each_lane_runs_at_least_once(self):
        runs = []
        batches, _, _ = lanes.measure([(CORES, lambda: runs.append(1))] * 2, 0.0, 0.0)
        self.assertEqual((batches, len(runs)), (2, 4))  # one of each to warm up

    def test_a_failure_in_a_lane_reaches_the_caller(self):
        def fail():
            raise Failed("not today")
        with self.assertRaisesRegex(Failed, "not today"):
            lanes.measure([(CORES, fail), (CORES, lambda: None)], 0.01, 0.0)

    def test_a_batch_counts_as_its_frames(self):
        piece = lanes.slice_of(3, 0.5, [0.1, 0.2, 0.2], 8)
        self.assertEqual(piece, {"frames": 24, "elapsed_s": 0.5, "latencies_ms": [100, 200, 200]})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
