#!/usr/bin/env python3
"""bench/random-graphs: some graphs, and that it finds wrong numbers. It runs in the environment that
bench/compare has made, or in this Python. Skipped if that lacks onnx and onnxruntime, or has older
ones, which have faults of their own. The first argument is the millrace command."""
import importlib.metadata
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from comparison import environment  # noqa: E402

SKIPPED = 77
VENV = ROOT / "build/compare-venv"
COMMAND = []
# A command whose results are a little too large.
WRONG = """#!{python}
import sys, subprocess, glob, numpy
done = subprocess.run({command!r} + sys.argv[1:])
for file in glob.glob(sys.argv[sys.argv.index("--output") + 1].replace("y.npy", "y*.npy")):
    numpy.save(file, numpy.load(file) * 1.1 + 1)
sys.exit(done.returncode)
"""


class Graphs(unittest.TestCase):
    def test_the_command_computes_what_onnx_runtime_does(self):
        from random_graphs.trial import trial
        for seed in range(1, 81):
            verdict = trial(COMMAND, seed)
            self.assertIn(verdict.kind, ("right", "empty"), f"seed {seed}: {verdict.text}")

    def test_one_seed_makes_one_graph(self):
        from random_graphs.trial import make
        first, second = make(7), make(7)
        self.assertEqual([str(node) for node in first.nodes], [str(node) for node in second.nodes])

    def test_wrong_numbers_are_found_and_kept(self):
        from random_graphs.trial import trial
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "wrong"
            program.write_text(WRONG.format(python=sys.executable, command=COMMAND))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            verdict = trial([str(program)], 2, Path(folder) / "kept")
            self.assertEqual(verdict.kind, "wrong")
            self.assertIn("differs by", verdict.text)
            kept = sorted(path.name for path in (Path(folder) / "kept/graph2").iterdir())
            self.assertIn("model.onnx", kept)
            self.assertTrue(any(name.startswith("expected.") for name in kept))


def version(text):
    return [int(part) for part in text.split(".")[:2]]


def missing():
    for package in ("onnx", "onnxruntime", "numpy"):
        pinned = environment.pinned()[package].partition("==")[2]
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"this Python has no {package}"
        if package != "numpy" and version(found) < version(pinned):
            return f"{package} is {found}, older than {pinned}"
    return None


if __name__ == "__main__":
    python = environment.python_of(VENV)
    if python.exists() and Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), "-B", *sys.argv])
    if missing():
        print(f"skipped: {missing()}")
        sys.exit(SKIPPED)
    COMMAND = [str(Path(sys.argv.pop(1)).resolve())]
    unittest.main()
