"""Each script of examples/python, run as its first line says."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import DIGITS, EXAMPLES, MODELS



def output_of(script, *arguments):
    done = subprocess.run([sys.executable, os.path.join(EXAMPLES, script), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Examples(unittest.TestCase):
    def test_detect(self):
        pictures = os.path.join(MODELS, "digits_images")
        with tempfile.TemporaryDirectory() as folder:
            said = output_of("detect.py", "yolov3_tiny", pictures, folder, "yolo")
            self.assertEqual(len(os.listdir(folder)), len(os.listdir(pictures)))
        self.assertIn("objects", said)

    def test_int8(self):
        said = output_of("int8.py", DIGITS, os.path.join(MODELS, "digits_test_images.npy"),
                         os.path.join(MODELS, "digits_test_labels.txt"))
        for share in re.findall(r"([\d.]+)% right", said):
            self.assertGreater(float(share), 95)
        self.assertEqual(said.count("right"), 2)

    def test_deadlines(self):
        said = output_of("deadlines.py", DIGITS, DIGITS, DIGITS)
        self.assertEqual(said.count("bound"), 4)


if __name__ == "__main__":
    unittest.main()
