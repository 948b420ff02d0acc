"""Errors say what the command says."""
import json
import os
import tempfile
import unittest

import millrace
from support import DIGITS, digits_plan, run


class Errors(unittest.TestCase):
    def check(self, call, *arguments):
        """The error of the call is the command's sentence."""
        with self.assertRaises(millrace.Error) as raised:
            call()
        said = run(*arguments)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn(str(raised.exception), said.stderr.replace("\n", " "))
        return raised.exception

    def test_no_model_file(self):
        error = self.check(lambda: millrace.plan("/nowhere/model.onnx"), "plan", "/nowhere/model.onnx")
        self.assertEqual(error.kind, "input")
        self.assertIn("/nowhere/model.onnx", error.place)

    def test_no_onnx_file(self):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(b"no model")
            file.flush()
            self.check(lambda: millrace.Model(file.name), "inspect", file.name)

    def test_a_plan_of_another_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.plan.json")
            millrace.plan(DIGITS, board="jetson-orin-nano").save(path)
            try:
                plan = millrace.Plan(path)
                plan.session().close()
            except millrace.Error as error:
                self.assertIn(str(error), run("run", path, "--random", "1").stderr)

    def test_a_damaged_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.plan.json")
            digits_plan().save(path)
            with open(path) as file:
                plan = json.load(file)
            stage = plan["stages"][0]
            stage.update({"processors": ["cpu99"]} if "processors" in stage else {"processor": "cpu99"})
            with open(path, "w") as file:
                json.dump(plan, file)
            self.check(lambda: millrace.Plan(path).session(), "run", path, "--random", "1")

    def test_a_plan_of_another_model(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.plan.json")
            digits_plan().save(path)
            with self.assertRaisesRegex(millrace.Error, "digits.plan.json"):
                millrace.Plan(path, model="squeezenet1_1")

    def test_wrong_words(self):
        with self.assertRaisesRegex(millrace.Error, "found 'f31', expected f32, f16, bf16 or int8"):
            millrace.plan(DIGITS, precision="f31")
        with self.assertRaisesRegex(millrace.Error, "expected a number with ns, us, ms"):
            millrace.plan(DIGITS, measure="soon")
        with self.assertRaises(millrace.Error):
            millrace.plan(DIGITS, search="by-magic")

    def test_what_nothing_meets_is_infeasible(self):
        with self.assertRaises(millrace.Error) as raised:
            millrace.plan(DIGITS, max_latency="1ns", measure=0)
        self.assertEqual(raised.exception.kind, "infeasible")


if __name__ == "__main__":
    unittest.main()
