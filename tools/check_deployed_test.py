#!/usr/bin/env python3
"""Small good and bad samples for every rule of check_deployed.py."""
import copy
import json
import sys
import unittest

sys.dont_write_bytecode = True
import check_deployed  # noqa: E402

GOOD = {"name": "net", "package": "timm", "maker": "of_timm", "arguments": {"model": "net"},
        "inputs": {"image": {"shape": [1, 3, 8, 8]}},
        "variants": [{"opset": 17, "batch": "static", "simplified": False,
                      "exporter": "dynamo", "suppression": False}],
        "operators": ["Conv"]}


def complaints(change):
    entry = copy.deepcopy(GOOD)
    change(entry)
    return check_deployed.check_entry(entry, {"Conv"}, {"of_timm"})


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(entry):
        for step in path:
            entry = entry[step]
        entry[last] = value
    return change


class Entries(unittest.TestCase):
    def expect(self, words, change):
        found = complaints(change)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_good_one_has_no_complaint(self):
        self.assertEqual(complaints(lambda entry: None), [])
        self.assertEqual(complaints(put("ranked", True)), [])

    def test_fields_are_known_and_there(self):
        self.expect("'speed' is not known", put("speed", 1))
        self.expect("'maker' is missing", lambda entry: entry.pop("maker"))

    def test_makers_and_packages_exist(self):
        self.expect("makers/of_nobody.py", put("maker", "of_nobody"))
        self.expect("the package is 'tims'", put("package", "tims"))

    def test_inputs_have_a_shape_and_known_values(self):
        self.expect("no shape", put("inputs", "image", "shape", [1, 0]))
        self.expect("no known kind", put("inputs", "image", "values", "white"))
        self.expect("have a limit", put("inputs", "image", "values", "tokens"))

    def test_variants_are_of_the_known_ones(self):
        self.expect("there is no variant", put("variants", []))
        self.expect("'opset' of a variant", put("variants", 0, "opset", 12))

    def test_operators_are_listed_and_known(self):
        self.expect("no operators", put("operators", []))
        self.expect("'Strange' is not in", put("operators", ["Strange"]))


class Lists(unittest.TestCase):
    def test_few_architectures_equal_names_and_rare_opsets_are_found(self):
        found = "\n".join(check_deployed.check_spread([GOOD, GOOD]))
        for words in ("2 architectures, expected 120", "'net' is there 2 times",
                      "'opset' is 11 in 0 variants", "'suppression' is True in 0 variants"):
            self.assertIn(words, found)

    def test_other_documents_are_refused(self):
        self.assertIn("no list", check_deployed.findings("[1]")[0])
        self.assertIn("no list", check_deployed.findings(json.dumps({}))[0])

    def test_the_list_passes(self):
        self.assertEqual(check_deployed.main([]), 0)


if __name__ == "__main__":
    unittest.main()
