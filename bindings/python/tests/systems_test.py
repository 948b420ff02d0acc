"""Systems: bounds, live frames, callbacks that raise."""
import os
import tempfile
import threading
import unittest

import numpy

import millrace
from support import DIGITS, digits_model, images, run

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
