"""Systems: bounds, live frames, callbacks that raise."""
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

import millrace
from support import DIGITS, code_of_child, digits_model, images, run, seconds_to_end

OUTPUT = digits_model().outputs[0].name


def system(rate=20):
    made = millrace.System(name="pair")
    made.add("left", DIGITS, rate=rate, deadline="40ms")
    return made.add("right", digits_model(), rate=rate)


class Systems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.deployment = millrace.deploy(system(), samples=20)

    def test_bounds_are_rows_within_deadlines(self):
        left, right = self.deployment.bounds
        self.assertEqual((left.group, left.deadline, left.period), ("left", 0.04, 0.05))
        self.assertEqual(right.deadline, 0.05)
        self.assertLessEqual(left.bound, left.deadline)
        self.assertIn("left", str(self.deployment))
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        self.assertEqual(list(self.deployment.bounds.to_pandas().group), ["left", "right"])

    def test_frames_in_results_out(self):
        found, ten = [], threading.Event()

        def take(result):
            found.append(result)
            if len(found) >= 10:
                ten.set()

        with self.deployment.run() as robot:
            robot.on_result("left", take)
            for image in images(40):
                robot.feed("left", image)
                robot.feed("right", {digits_model().inputs[0].name: image})
                if ten.wait(0.03):
                    break
            self.assertTrue(ten.wait(10))
        with millrace.plan(DIGITS, measure=0).session() as session:
            classes = [int(out[OUTPUT].argmax()) for out in session.map(images(40))]
        for result in found:
            self.assertEqual(int(result.outputs[OUTPUT].argmax()), classes[result.input])
            self.assertGreater(result.response, 0)
        reports = robot.reports
        self.assertEqual([report.group for report in reports], ["left", "right"])
        self.assertEqual(reports[0].done + reports[0].skipped, reports[0].due)

    def test_what_a_callback_raises_reaches_the_caller(self):
        raised = threading.Event()

        def take(result):
            raised.set()
            raise ZeroDivisionError("of the callback")

        robot = self.deployment.run()
        robot.on_result("left", take)
        for image in images(20):
            robot.feed("left", image)
            if raised.wait(0.05):
                break
        with self.assertRaisesRegex(ZeroDivisionError, "of the callback"):
            robot.stop()

    def test_ctrl_c_ends_it_while_frames_come(self):
        code = """
    import numpy
    d = millrace.deploy(millrace.System().add("one", {0!r}, rate=10), samples=5)
    with d.run() as robot:
        robot.on_result("one", lambda result: None)
        while True:
            robot.feed("one", numpy.zeros((1, 1, 8, 8), numpy.float32))""".format(DIGITS)
        self.assertLess(seconds_to_end(code.strip(), after=4), 1.0)

    def test_frames_may_come_late_and_in_bursts(self):
        late = millrace.System().add("one", DIGITS, rate=20, jitter="10ms", burst=2, burst_distance=0.005)
        bound, = millrace.deploy(late, samples=5).bounds
        self.assertEqual((bound.period, bound.deadline), (0.05, 0.1))  # of a frame; of a burst
        with self.assertRaisesRegex(millrace.Error, "is sporadic and has an 'offset_ms'"):
            millrace.deploy(millrace.System().add("one", DIGITS, rate=20, sporadic=True, offset="5ms"))

    def test_a_budget_limits_a_group(self):
        served = millrace.System().add("one", DIGITS, rate=20, aperiodic=True, budget="20ms", budget_every="100ms")
        deployment = millrace.deploy(served, samples=5)
        bound, = deployment.bounds
        self.assertEqual(bound.deadline, 0.1)  # from when a frame begins
        report, = deployment.run().stop()
        self.assertEqual((report.overruns, report.longest_held >= 0), (0, True))
        with self.assertRaisesRegex(millrace.Error, "is aperiodic and has no budget"):
            millrace.deploy(millrace.System().add("one", DIGITS, rate=20, aperiodic=True))

    def test_ctrl_c_ends_deploy_within_a_second(self):
        code = f"""
    system = millrace.System()
    for i in range(3):
        system.add(f"group{{i}}", {DIGITS!r}, rate=10)
    while True:
        millrace.deploy(system, samples=20000, cache=False)"""
        self.assertLess(seconds_to_end(code.strip(), after=4), 1.0)

    def test_a_run_that_is_left_open_ends_with_the_program(self):
        code = f"""
import millrace, numpy
d = millrace.deploy(millrace.System().add("one", {DIGITS!r}, rate=20), samples=5)
robot = d.run()
robot.on_result("one", lambda result: None)
for _ in range(20):
    robot.feed("one", numpy.zeros((1, 1, 8, 8), numpy.float32))
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_fork_needs_a_run_of_its_own(self):
        robot = self.deployment.run()

        def in_child():
            nonlocal robot
            with self.assertRaisesRegex(millrace.Error, "was started before this process was forked"):
                robot.feed("left", images(1)[0])
            del robot  # leaves it alone
            gc.collect()

        self.assertEqual(code_of_child(in_child), 0)
        self.assertTrue(robot.feed("left", images(1)[0]))
        robot.stop()

    def test_wrong_groups_and_frames(self):
        with self.deployment.run() as robot:
            with self.assertRaisesRegex(millrace.Error, "group 'x': is none of the deployment"):
                robot.feed("x", images(1)[0])
            with self.assertRaisesRegex(millrace.Error, "found float64"):
                robot.feed("left", numpy.zeros((1, 1, 8, 8)))
            with self.assertRaisesRegex(millrace.Error, "group 'x'"):
                robot.on_result("x", print)

    def test_deadlines_that_cannot_be_kept(self):
        with self.assertRaises(millrace.Error) as raised:
            millrace.deploy(millrace.System().add("one", DIGITS, rate=5, deadline="1us"), samples=5)
        self.assertEqual(raised.exception.kind, "infeasible")

    def test_a_file_is_the_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pair.deployment.json")
            self.deployment.save(path)
            again = millrace.Deployment(path)
            self.assertEqual(again.bounds, self.deployment.bounds)
            self.assertEqual(again.scenarios, self.deployment.scenarios)
            self.assertEqual(run("analyze", path).returncode, 0)


if __name__ == "__main__":
    unittest.main()
