#!/usr/bin/env python3
"""bench/random-graphs: some graphs, and that it finds wrong numbers. Skipped without onnx and
onnxruntime. The first argument is the millrace command."""
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

SKIPPED = 77
COMMAND = []
# A command whose results are a little too large.
WRONG = """#!/usr/bin/env python3
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
            self.assertEqual(verdict.kind, "right", f"seed {seed}: {verdict.text}")

    def test_one_seed_makes_one_graph(self):
        from random_graphs.trial import make
        first, second = make(7), make(7)
        self.assertEqual([str(node) for node in first.nodes], [str(node) for node in second.nodes])

    def test_wrong_numbers_are_found_and_kept(self):
        from random_graphs.trial import trial
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "wrong"
            program.write_text(WRONG.format(command=COMMAND))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            verdict = trial([str(program)], 2, Path(folder) / "kept")
            self.assertEqual(verdict.kind, "wrong")
            self.assertIn("differs by", verdict.text)
            kept = sorted(path.name for path in (Path(folder) / "kept/graph2").iterdir())
            self.assertIn("model.onnx", kept)
            self.assertTrue(any(name.startswith("expected.") for name in kept))


if __name__ == "__main__":
    COMMAND = [str(Path(sys.argv.pop(1)).resolve())]
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)
    unittest.main()
