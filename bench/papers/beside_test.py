"""What beside.py says of pages and rows that differ, and that no printed figure is left out of a page."""
import re
import unittest

import beside
import pages_tables


class Blocks(unittest.TestCase):
    def test_content_is_replaced_and_the_rest_stays(self):
        text = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin xy -->\nz\n<!-- end xy -->\n"
        self.assertEqual(beside.with_block(text, "x", "new"),
                         "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n<!-- begin xy -->\nz\n<!-- end xy -->\n")

    def test_a_missing_block_is_named(self):
        with self.assertRaisesRegex(SystemExit, "found 0 blocks 'y'"):
            beside.with_block("<!-- begin x -->\n<!-- end x -->", "y", "")


class Rows(unittest.TestCase):
    def differences(self, before, now, volatile=()):
        return list(beside.differences(before, now, volatile, "row"))

    def test_numbers_texts_and_lengths_are_compared(self):
        self.assertEqual(self.differences({"a": 1.0, "b": [1, 2]}, {"a": 1.0004, "b": [1, 2]}), [])
        self.assertEqual(self.differences({"a": 1.0}, {"a": 1.01}), ["row.a: kept 1.0, computed 1.01"])
        self.assertEqual(self.differences({"a": "E"}, {"a": "D"}), ["row.a: kept E, computed D"])
        self.assertEqual(len(self.differences({"a": [1]}, {"a": [1, 2]})), 1)
        self.assertEqual(len(self.differences(None, {"a": 1})), 1)

    def test_seconds_are_not(self):
        self.assertEqual(self.differences({"s": 1, "n": 2}, {"s": 9, "n": 2}, ("s",)), [])


class Marks(unittest.TestCase):
    def test_what_is_far_is_bold(self):
        self.assertEqual(beside.off_text(110, 100), "+10 %")
        self.assertEqual(beside.off_text(70, 100), "**-30 %**")
        self.assertEqual(beside.same_text("E", "PND-A"), "**E**")
        self.assertEqual(beside.near_of([(100, 110), (100, 200), (5, None)]), "1 of 2")


class Pages(unittest.TestCase):
    """Every printed figure of a table stands in a cell of its block."""

    def numbers_on(self, *tables):
        text = " ".join(pages_tables.rendered(pages_tables.named(name)) for name in tables)
        return set(re.findall(r"\d+(?:\.\d+)?", text))

    def check(self, printed, *tables):
        def leaves(value):
            if isinstance(value, dict):
                value = list(value.values())
            if isinstance(value, list):
                return [leaf for each in value for leaf in leaves(each)]
            return [value] if isinstance(value, (int, float)) else []

        shown = {float(number) for number in self.numbers_on(*tables)}
        missing = [leaf for leaf in leaves(printed) if float(leaf) not in shown]
        self.assertEqual(missing, [], f"printed, but not in {tables}")

    def test_they_have_every_printed_figure(self):
        printed = beside.published()
        for key, tables in pages_tables.SHOWN_IN.items():
            with self.subTest(key=key):
                if any(pages_tables.is_incomplete(pages_tables.named(name)) for name in tables):
                    self.skipTest(f"{tables}: not computed")
                entry = {name: value for name, value in printed[key].items() if name not in ("source", "unit", "columns")}
                self.check(entry, *tables)

    def test_every_entry_is_shown_somewhere(self):
        self.assertEqual(set(beside.published()) - {"about"}, set(pages_tables.SHOWN_IN))


if __name__ == "__main__":
    unittest.main()
