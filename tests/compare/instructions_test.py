#!/usr/bin/env python3
"""What bench/instructions says about counts."""
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "bench"))
from counting import frozen, page, table  # noqa: E402

BEFORE = {"conv": {"macs": 1000, "counts": {"f32": 2000, "f32:winograd": 500}, "peers": {}}}


def result(**counts):
    return {"kind": "layer", "name": "conv", "macs": 1000, "peers": {}, "counts": counts}


class Instructions(unittest.TestCase):
    def worse(self, counts):
        with mock.patch.object(frozen, "read", return_value=BEFORE):
            return frozen.worse([{**result(), "counts": counts}])

    def test_three_in_a_hundred_more_are_allowed(self):
        self.assertEqual(self.worse({"f32": 2060, "f32:winograd": 400}), [])

    def test_a_count_that_grew_by_more_is_named(self):
        self.assertEqual(self.worse({"f32": 2000, "f32:winograd": 520}),
                         ["conv, f32:winograd: 520 instructions, 4.0% above the frozen 500"])

    def test_a_variant_that_is_gone_is_named(self):
        self.assertEqual(self.worse({"f32": 2000}), ["conv, f32:winograd: this variant is gone"])

    def test_what_was_never_frozen_is_not_compared(self):
        self.assertEqual(self.worse({"f32": 1, "f32:winograd": 1, "int8": 9999}), [])

    def test_the_page_has_the_frozen_counts(self):
        text = page.FILE.read_text()
        self.assertEqual(page.parts_of(text)[1], f"\n{page.tables_of(frozen.read())}\n",
                         "write it anew with 'bench/instructions --page'")

    def test_the_page_names_the_best_algorithm_of_each_precision(self):
        counts = {"conv": {"kind": "layer", "macs": 1000, "peers": {"ncnn f32": 700},
                           "counts": {"f32": 2000, "f32:winograd": 500, "int8": 80}}}
        self.assertIn("| conv | 0.0 | 0.500 `winograd` | 0.080 |  | 0.700 |  |",
                      page.tables_of(counts))

    def test_the_table_has_the_best_variant_of_each_precision(self):
        text = table.text_of([{**result(), "counts": {"f32": 2000, "f32:winograd": 500, "int8": 80}}])
        self.assertIn("0.500 winograd", text)
        self.assertIn("0.080", text)
        self.assertNotIn("2.000", text)

    def test_kernels_stand_in_the_order_of_their_counts(self):
        text = table.kernels_text([
            {"layer": "pool", "kernel": "loop", "macs": 0, "count": 1000000},
            {"layer": "conv", "kernel": "direct", "macs": 10000000, "count": 3000000}])
        conv, pool = text.splitlines()[2:]
        self.assertRegex(conv, r"conv +direct +10.00 +3.000 +75.0% +0.300")
        self.assertRegex(pool, r"pool +loop +0.00 +1.000 +25.0%$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
