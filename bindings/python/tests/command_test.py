"""python -m millrace is the command."""
import subprocess
import sys
import unittest

import millrace
from support import run


class Command(unittest.TestCase):
    def test_it_is_the_command(self):
        for arguments in (["--version"], ["zoo"], ["plan", "/nowhere.onnx"]):
            ours = subprocess.run([sys.executable, "-m", "millrace", *arguments], capture_output=True, text=True)
            theirs = run(*arguments)
            self.assertEqual((ours.returncode, ours.stdout, ours.stderr),
                             (theirs.returncode, theirs.stdout, theirs.stderr))

    def test_versions_agree(self):
        self.assertIn(millrace.__version__, run("--version").stdout)

    def test_everything_is_documented(self):
        for name in millrace.__all__:
            self.assertTrue(getattr(millrace, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
