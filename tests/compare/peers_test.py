#!/usr/bin/env python3
"""bench/compare with its peers, in the environment that it has made; skipped where there is none.
The first argument is the millrace command."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from comparison import environment  # noqa: E402

SKIPPED = 77
VENV = ROOT / "build/compare-venv"
PEERS = ("millrace", "onnxruntime")


def missing():
    record = VENV / "installed.json"
    installed = json.loads(record.read_text()) if record.exists() else []
    pinned = environment.pinned()
    needed = [*environment.COMMON, *(one for peer in PEERS for one in environment.PEERS[peer])]
    return [pinned[one] for one in needed if pinned[one] not in installed]


class Answers(unittest.TestCase):
    def test_the_error_is_relative_to_the_largest_value(self):
        from comparison import answers
        found = answers.compare([[1.0, 4.0], [2.0, 0.0]], [[1.0, 4.0], [1.6, 0.0]])
        self.assertAlmostEqual(found["error"], 0.1)

    def test_top_answers_are_counted_frame_by_frame(self):
        from comparison import answers
        found = answers.compare([[1, 2], [3, 1]], [[1, 2], [1, 3]])
        self.assertEqual((found["same_top"], found["frames"]), (1, 2))

    def test_what_is_not_a_number_is_infinitely_wrong(self):
        from comparison import answers
        self.assertEqual(answers.compare([[float("nan"), 1]], [[0, 1]])["error"], float("inf"))

    def test_answers_of_another_size_are_refused(self):
        from comparison import answers
        with self.assertRaisesRegex(ValueError, "expected"):
            answers.compare([[1, 2]], [[1, 2, 3]])


class Networks(unittest.TestCase):
    def model(self):
        import onnx
        from onnx import helper
        shape = helper.make_tensor("shape", onnx.TensorProto.INT64, [2], [1, 4])
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"])]
        value = helper.make_tensor_value_info
        return helper.make_model(helper.make_graph(
            nodes, "g", [value("x", onnx.TensorProto.FLOAT, [1, 2, 2])],
            [value("y", onnx.TensorProto.FLOAT, [1, 4])], [shape]))

    def test_a_batch_reaches_inputs_and_reshapes_and_spares_the_original(self):
        import onnx
        from comparison import networks
        original = self.model()
        batched = networks.with_batch(original, 8)
        self.assertEqual(batched.graph.input[0].type.tensor_type.shape.dim[0].dim_value, 8)
        self.assertEqual(list(onnx.numpy_helper.to_array(batched.graph.initializer[0])), [8, 4])
        self.assertEqual(original, self.model())

    def test_an_open_dimension_besides_the_batch_is_refused(self):
        from comparison import networks
        from comparison.failed import Failed
        model = self.model()
        model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "width"
        with self.assertRaisesRegex(Failed, "'x' has no fixed shape"):
            networks.random_frames(model, 2, 1)

    def test_frames_follow_from_the_seed(self):
        from comparison import networks
        first, again, other = (networks.random_frames(self.model(), 3, seed)["x"]
                               for seed in (1, 1, 2))
        self.assertEqual(first.shape, (3, 2, 2))
        self.assertTrue((first == again).all())
        self.assertFalse((first == other).any())


class Run(unittest.TestCase):
    def compare(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder) / "stored.json"
            done = subprocess.run(
                [ROOT / "bench/compare", *arguments, "--millrace", sys.argv[1], "--folder", folder,
                 "--venv", VENV, "--repetitions", "2", "--duration", "0.02", "--warmup", "0.01",
                 "--plan-options=--measure 0 --search exact", "--json", stored],
                capture_output=True, text=True, cwd=folder)
            return done, json.loads(stored.read_text()) if stored.exists() else None

    def test_the_answers_of_a_trained_network_agree(self):
        done, stored = self.compare(ROOT / "models/digits.onnx", "--peers", ",".join(PEERS))
        self.assertEqual(done.returncode, 0, done.stderr)
        for one in stored["networks"][0]["contenders"]:
            self.assertEqual(one["missing"], "")
            self.assertEqual(len(one["slices"]), 2)
            self.assertLess(one["answers"]["error"], 1e-4)
            self.assertEqual(one["answers"]["same_top"], 8)
        self.assertIn("ONNX Runtime f32, batch 8", done.stdout)

    def test_a_network_of_the_zoo_has_random_weights_and_runs(self):
        done, stored = self.compare("squeezenet1_1", "--peers", "millrace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stored["networks"][0]["contenders"][0]["missing"], "")

    def test_what_millrace_cannot_plan_is_one_row(self):
        done, stored = self.compare(ROOT / "models/digits.onnx", "--peers", ",".join(PEERS),
                                    "--precision", "nonsense")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "Millrace nonsense +not available: millrace plan: ")
        self.assertTrue(stored["networks"][0]["contenders"][-1]["slices"])

    def test_a_file_that_is_no_network_is_named(self):
        done, _ = self.compare(ROOT / "README.md", "--peers", "millrace")
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md: cannot be read as ONNX", done.stderr)


if __name__ == "__main__":
    if missing():
        print(f"skipped: {VENV} lacks {', '.join(missing())}; bench/compare installs them")
        sys.exit(SKIPPED)
    if Path(sys.prefix).resolve() != VENV.resolve():
        python = environment.python_of(VENV)
        os.execv(python, [str(python), "-B", *sys.argv])
    unittest.main(argv=sys.argv[:1])
