"""The notebooks of examples/python: whole, without outputs, and their cells run in order. Jupyter need not be there."""
import ast
import glob
import json
import os
import re
import subprocess
import sys
import unittest

from support import EXAMPLES

SHORTER = {"SECONDS = 3": "SECONDS = 1", "SECONDS = 1 ": "SECONDS = 0.3 ",
           '"squeezenet1_1"': '"../../models/digits.onnx"', '"mobilenet_v2"': '"../../models/digits.onnx"'}


def read(name):
    with open(os.path.join(EXAMPLES, name + ".ipynb"), encoding="utf-8") as file:
        return json.load(file)


def show(value):
    """As a notebook does with the last value of a cell."""
    if value is not None:
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))


def run_cells(name):
    """In this process, whose folder is that of the notebooks."""
    names = {"__name__": "__main__"}
    for cell in read(name)["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        for long, short in SHORTER.items():
            source = source.replace(long, short)
        tree = ast.parse(source)
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if last is not None:
            show(eval(compile(last, cell["id"], "eval"), names))


def output_of(name):
    done = subprocess.run([sys.executable, os.path.abspath(__file__), name], capture_output=True, text=True,
                          cwd=EXAMPLES)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Notebooks(unittest.TestCase):
    def test_they_are_notebooks_without_outputs(self):
        names = [os.path.basename(path)[:-6] for path in glob.glob(os.path.join(EXAMPLES, "*.ipynb"))]
        self.assertEqual(sorted(names), ["deadlines", "detector", "int8"])
        for name in names:
            notebook = read(name)
            self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
            self.assertEqual(notebook["metadata"]["kernelspec"]["language"], "python")
            ids = [cell["id"] for cell in notebook["cells"]]
            self.assertEqual(len(set(ids)), len(ids))
            for cell in notebook["cells"]:
                self.assertRegex(cell["id"], r"^[a-zA-Z0-9_-]{1,64}$")
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                else:
                    self.assertEqual(set(cell), {"cell_type", "id", "metadata", "source"})
            try:
                import nbformat
            except ImportError:
                continue
            nbformat.validate(notebook)

    def test_detector(self):
        said = output_of("detector")
        self.assertIn("3 digits: 3 in", said)
        self.assertEqual(len(re.findall(r"\d+", re.search(r"read: \[(.*)\]", said)[1])), 12)
        self.assertIn("(128, 128, 3)", said)

    def test_int8(self):
        said = output_of("int8")
        shares = re.findall(r"([\d.]+)% right", said)
        self.assertEqual(len(shares), 2)
        for share in shares:
            self.assertGreater(float(share), 95)
        self.assertRegex(said, r"report: \d+ KiB")

    def test_deadlines(self):
        said = output_of("deadlines")
        self.assertEqual(len(re.findall(r"% of the deadline", said)), 3)
        for done in re.findall(r"(\d+) frames, slowest", said):
            self.assertGreater(int(done), 0)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] in ("detector", "int8", "deadlines"):
        run_cells(sys.argv[1])
    else:
        unittest.main()
