"""The hash of kernels follows their code, and not their comments: cmake/hash_sources.cmake."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, SCRIPT = sys.argv[1:3]
CODE = "// Adds.\nint add(int a, int b) { return a + b; }\n"


class KernelsHash(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "kernels" / "inner").mkdir(parents=True)
        self.write(CODE)

    def write(self, text, name="kernels/inner/add.cpp"):
        (self.folder / name).write_text(text)

    def hash(self):
        header = self.folder / "hash.h"
        subprocess.run([CMAKE, "-D", f"OUTPUT={header}", "-D", f"DEPFILE={header}.d",
                        "-D", "NAME=kernels_hash", "-D", "NAMESPACE=sample",
                        "-D", f"FOLDERS={self.folder / 'kernels'}", "-P", SCRIPT], check=True)
        self.depends = Path(f"{header}.d").read_text()
        return re.search(r'kernels_hash = "([0-9a-f]{12})";', header.read_text())[1]

    def test_code_changes_it(self):
        before = self.hash()
        self.write(CODE.replace("a + b", "b + a"))
        self.assertNotEqual(self.hash(), before)

    def test_comments_and_blanks_do_not(self):
        before = self.hash()
        self.write("// Sums two numbers.\n\nint add(int a,\n        int b) { return a + b; }\n")
        self.assertEqual(self.hash(), before)

    def test_another_file_changes_it_and_is_depended_on(self):
        before = self.hash()
        self.write("int zero();\n", "kernels/zero.h")
        self.assertNotEqual(self.hash(), before)
        self.assertIn("kernels/zero.h", self.depends)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
