#!/usr/bin/env python3
"""Small good and bad samples for check_includes.py."""
import sys
import unittest

sys.dont_write_bytecode = True
from check_includes import File, Project  # noqa: E402

ROPE = "#include <vector>\nstruct Rope {};\nint length_of(const Rope& rope);\n"


def missing(text, **others):
    files = {"src/base/rope.h": ROPE, "src/board/sample.cpp": text, **others}
    project = Project({path: File(path, code) for path, code in files.items()})
    return [f"{line}: {what}" for line, what in project.missing("src/board/sample.cpp")]


class Includes(unittest.TestCase):
    def test_types_of_the_project(self):
        self.assertEqual(missing('#include "base/rope.h"\nRope rope;\n'), [])
        self.assertEqual(missing("\nRope rope;\n"), ['2: Rope: include "base/rope.h"'])
        self.assertEqual(missing("\nbase::Rope rope;\n"), ['2: Rope: include "base/rope.h"'])

    def test_a_header_may_bring_another(self):
        knot = {"src/base/knot.h": '#include "base/rope.h"\n'}
        self.assertEqual(missing('#include "base/knot.h"\nstd::vector<Rope> ropes;\n', **knot), [])

    def test_types_of_others_and_own_ones_may_have_the_name(self):
        for text in ("CLI::Rope rope;", "struct Rope {};\nRope rope;", "class Rope;\nRope* rope;",
                     "template <class Rope>\nvoid pull(Rope rope);", "// a Rope",
                     'auto text = "Rope";', "TEST(Rope, is_long) {}"):
            self.assertEqual(missing(text), [], text)

    def test_functions_with_their_room(self):
        self.assertEqual(missing('#include "base/rope.h"\nint a = base::length_of({});'), [])
        self.assertEqual(missing("int a = base::length_of({});"),
                         ['1: base::length_of: include "base/rope.h"'])

    def test_the_standard_library(self):
        self.assertEqual(missing("std::vector<int> a;"), ["1: std::vector: include <vector>"])
        self.assertEqual(missing("#include <vector>\nstd::vector<int> a;"), [])
        self.assertEqual(missing("#include <string>\nstd::string_view a;"), [])


if __name__ == "__main__":
    unittest.main()
