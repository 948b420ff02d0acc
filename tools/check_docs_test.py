#!/usr/bin/env python3
"""Small good and bad samples for every rule of check_docs.py."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import check_docs  # noqa: E402

LONG = "One " + "two " * 25 + "end."


def complaints(text):
    return [f"{line}: {what}" for line, what in check_docs.check_sentences(text)]


class Sentences(unittest.TestCase):
    def test_a_sentence_has_at_most_25_words(self):
        self.assertEqual(complaints("One " + "two " * 23 + "end."), [])
        self.assertIn("1: a sentence of 27 words", complaints(LONG)[0])

    def test_a_sentence_goes_on_in_the_next_line(self):
        text = LONG.replace("two two", "two\ntwo")
        self.assertIn("1: a sentence of 27 words", complaints(text)[0])

    def test_cells_and_list_items_stand_by_themselves(self):
        half = "one " * 14
        self.assertEqual(complaints(f"| {half}| {half}|"), [])
        self.assertEqual(complaints(f"* {half}\n* {half}"), [])
        self.assertIn("2: a sentence of 27 words", complaints(f"| a |\n| {LONG} |")[0])

    def test_code_is_one_word_and_blocks_are_none(self):
        self.assertEqual(complaints("`" + "a " * 40 + "` is code."), [])
        self.assertEqual(complaints(f"```text\n{LONG}\n```"), [])

    def test_names_of_networks_begin_sentences(self):
        half = "one " * 14
        self.assertEqual(complaints(f"{half}. resnet18 {half}."), [])

    def test_no_sentence_begins_with_of(self):
        self.assertIn("begins with 'Of'", complaints("Good. Of these the best.")[0])
        self.assertEqual(complaints("Often good."), [])


class Links(unittest.TestCase):
    def test_files_and_headings_must_exist(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            text = "# A page\n\n## `Code`, and more\n\n[a](page.md#code-and-more) [b](#a-page)\n"
            page.write_text(text, "utf-8")
            self.assertEqual(list(check_docs.check_links(page, text)), [])
            bad = "[a](none.md) [b](#none) `[c](none.md)` [d](https://example.org)"
            self.assertEqual(list(check_docs.check_links(page, bad)),
                             [(1, "the link leads nowhere: none.md"),
                              (1, "no such heading: #none")])


class Sources(unittest.TestCase):
    def test_documents_and_decisions_that_they_name_must_exist(self):
        self.assertEqual(list(check_docs.check_source("// docs/runtime.md, decision 17")), [])
        self.assertEqual(list(check_docs.check_source("\n// docs/" + "none.md, decision 999")),
                         [(2, "no such document: docs/" + "none.md"),
                          (2, "no such decision: 999")])


class Lists(unittest.TestCase):
    def test_a_decision_has_at_most_25_lines(self):
        path = Path("docs/decisions/0001-a.md")
        self.assertEqual(list(check_docs.check_decision(path, "line\n" * 25)), [])
        self.assertEqual(len(list(check_docs.check_decision(path, "line\n" * 26))), 1)

    def test_the_list_of_operators_is_that_of_the_reader(self):
        path = check_docs.ROOT / "docs/operators.md"
        text = path.read_text("utf-8")
        self.assertEqual(list(check_docs.check_operators(path, text)), [])
        bad = text.replace("| `Conv` |", "| `Cnv` |")
        self.assertEqual(list(check_docs.check_operators(path, bad)),
                         [(1, "the operator Conv is missing"),
                          (1, "the reader does not know the operator Cnv")])


if __name__ == "__main__":
    unittest.main()
