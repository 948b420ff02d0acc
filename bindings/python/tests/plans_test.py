"""Plans: made, printed, saved, measured, verified, and ended with Ctrl-C."""
import os
import tempfile
import unittest

import numpy

import millrace
from support import DIGITS, digits_model, digits_plan, images, run, seconds_to_end


class Plans(unittest.TestCase):
    def test_model_tells_inputs_outputs_and_layers(self):
        model = digits_model()
        self.assertEqual(model.inputs, [("input", "float32", (1, 1, 8, 8))] if model.inputs[0].name == "input"
                         else [(model.inputs[0].name, "float32", (1, 1, 8, 8))])
        self.assertEqual(model.outputs[0].shape[-1], 10)
        self.assertGreater(sum(layer.macs for layer in model.layers), 0)
        self.assertEqual(len(model.hash), 32)

    def test_model_of_bytes_is_that_of_the_file(self):
        with open(DIGITS, "rb") as file:
            self.assertEqual(millrace.Model(file.read()).hash, digits_model().hash)

    def test_print_gives_the_verdict(self):
        text = str(millrace.plan(DIGITS, measure=0.02))
        self.assertIn("frames/s measured", text.splitlines()[0])
        self.assertIn("layers", text)
        self.assertIn("<table>", digits_plan()._repr_html_())

    def test_saved_plan_runs_bit_for_bit_like_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.plan.json")
            digits_plan().save(path)
            frames = numpy.concatenate(images(16))
            numpy.save(os.path.join(folder, "in.npy"), frames)
            done = run("run", path, "--input", os.path.join(folder, "in.npy"), "--output",
                       os.path.join(folder, "out.npy"))
            self.assertEqual(done.returncode, 0, done.stderr)
            by_command = numpy.load(os.path.join(folder, "out.npy"))
            name = digits_model().outputs[0].name
            with millrace.Plan(path).session() as session:
                ours = numpy.concatenate([out[name] for out in session.map(images(16))])
            self.assertEqual(ours.tobytes(), by_command.reshape(ours.shape).tobytes())

    def test_bench_has_a_row_for_the_plan_and_baselines(self):
        bench = digits_plan().bench(seconds=0.2, rounds=2)
        self.assertGreater(bench.fps, 0)
        self.assertGreater(len(bench.rows), 1)
        self.assertIn("frames/s", str(bench))

    def test_verify_says_right(self):
        found = digits_plan().verify(random_mappings=0)
        self.assertTrue(found)
        self.assertIn(found.plans[0].agreement, ("bit equal", "within tolerance", "within rounding"))

    def test_int8_is_planned_with_calibration_frames(self):
        plan = millrace.plan(DIGITS, precision=["f32", "int8"], calibration=images(20), measure=0)
        self.assertGreaterEqual(len(plan.stages), 1)

    def test_progress_and_its_exceptions(self):
        class Listener:
            tasks = []

            def note(self, text):
                pass

            def progress(self, task, share, text):
                self.tasks.append(task)
                raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            millrace.plan("resnet18", cache=False, progress=Listener())
        self.assertEqual(len(Listener.tasks), 1)

    def test_ctrl_c_ends_a_plan_within_a_second(self):
        for code in ["millrace.plan(millrace.Model('resnet18'), cache=False, measure=30)",
                     "millrace.plan('resnet18', measure=0).bench(seconds=60)",
                     "millrace.plan('resnet18', measure=0).verify(random_mappings=500)"]:
            with self.subTest(code):
                self.assertLess(seconds_to_end(code, after=4), 1.0)


if __name__ == "__main__":
    unittest.main()
