#!/usr/bin/env python3
"""Ranges in the toolkit's table: ranges.py PLUGIN_FOLDER."""

import json
import sys
import unittest


def entry(low, high, own=None, dtype="int8", method="layer"):
    own = own or (low, high)
    return {"dtype": dtype, "qmethod": method, "min": [low], "max": [high],
            "ori_min": [own[0]], "ori_max": [own[1]]}


def given(tensors, ranges):
    convert.give_ranges(tensors, ranges)
    return {name: (each["min"][0], each["max"][0]) for name, each in tensors.items()}


class Ranges(unittest.TestCase):
    def test_replace_those_that_the_toolkit_measured(self):
        self.assertEqual(given({"x": entry(-1.0, 2.0)}, {"x": (-3, 4)}), {"x": (-3.0, 4.0)})

    def test_a_convolution_has_that_of_its_relu(self):
        tensors = {"conv": entry(0.0, 2.0, own=(-5.0, 2.0)), "relu": entry(0.0, 2.0)}
        self.assertEqual(given(tensors, {"conv": (-6, 3), "relu": (0, 2.5)}),
                         {"conv": (0.0, 2.5), "relu": (0.0, 2.5)})

    def test_tensors_of_one_scale_keep_one(self):
        tensors = {"a": entry(-1.0, 2.0), "join": entry(-1.0, 2.0)}
        self.assertEqual(given(tensors, {"a": (-3, 1), "join": (-2, 5)}),
                         {"a": (-3.0, 5.0), "join": (-3.0, 5.0)})

    def test_hold_zero(self):
        self.assertEqual(given({"x": entry(-1.0, 2.0)}, {"x": (-3, -1)}), {"x": (-3.0, 0.0)})

    def test_of_weights_float16_and_unknown_tensors_stay(self):
        tensors = {"w": entry(-1.0, 1.0, method="channel"),
                   "f": entry(-1.0, 1.5, dtype="float16"), "y": entry(-1.0, 2.0)}
        before = {"w": (-1.0, 1.0), "f": (-1.0, 1.5), "y": (-1.0, 2.0)}
        self.assertEqual(given(tensors, {"w": (0, 9), "f": (0, 9)}), before)


class Text(unittest.TestCase):
    def test_is_exact_and_has_a_point_in_each_float(self):
        for value in (5.960464477539063e-08, 1e-08, -2.0, 1e30):
            self.assertEqual(float(convert.as_text(value)), value)
            self.assertIn(".", convert.as_text(value))
        table = {"a 'b'": {"x": [1.5, -1], "y": []}}
        self.assertEqual(json.loads(convert.as_text(table)), table)


class Reason(unittest.TestCase):
    def test_is_the_last_sentence_of_a_traceback(self):
        text = "Traceback:\n  File x\nValueError: first\n\nTraceback:\nKeyError: no op X!\n"
        self.assertEqual(convert.reason_of(Exception(text)), "no op X!")
        self.assertEqual(convert.reason_of(Exception("plain")), "plain")
        self.assertEqual(convert.reason_of(KeyboardInterrupt()), "KeyboardInterrupt")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, sys.argv.pop(1))
    import convert

    unittest.main()
