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
        self.assertEqual(list(check_docs.check_source("// docs/methods/runtime.md, decision 17")), [])
        self.assertEqual(list(check_docs.check_source("\n// docs/" + "none.md, decision 999")),
                         [(2, "no such document: docs/" + "none.md"),
                          (2, "no such decision: 999")])


class Manual(unittest.TestCase):
    def test_a_page_has_at_most_2000_words_and_the_readme_700(self):
        for name, limit in (("docs/concepts.md", 2000), ("README.md", 700)):
            path = check_docs.ROOT / name
            self.assertEqual(list(check_docs.check_words(path, "word " * limit)), [])
            self.assertEqual(list(check_docs.check_words(path, "word " * (limit + 1))),
                             [(1, f"a page of {limit + 1} words, at most {limit}")])
        log = check_docs.ROOT / "docs/evidence/comparison.md"
        self.assertEqual(list(check_docs.check_words(log, "word " * 5000)), [])

    def test_the_first_command_of_the_readme_comes_within_150_words(self):
        path = check_docs.ROOT / "README.md"
        page = "\n```sh\nscripts/demo\n```\n"
        self.assertEqual(list(check_docs.check_first_command(path, "word " * 150 + page)), [])
        self.assertEqual(len(list(check_docs.check_first_command(path, "word " * 151 + page))), 1)
        self.assertEqual(len(list(check_docs.check_first_command(path, "word " * 151))), 1)

    def test_four_readers_are_led_to_three_pages_each(self):
        rows = ["| a | [x](x.md), [y](y.md), [z](z.md) |\n"] * 4
        head = "| you have | read |\n| --- | --- |\n"
        self.assertEqual(list(check_docs.check_readers(head + "".join(rows))), [])
        self.assertEqual(list(check_docs.check_readers(head + "".join(rows[:3]))),
                         [(1, "leads 3 readers, not 4")])
        short = "| a | [x](x.md), [y](y.md) |\n"
        self.assertIn("2 pages, not 3",
                      list(check_docs.check_readers(head + "".join(rows[:3]) + short))[0][1])

    def test_the_manual_has_at_most_14_pages_which_its_readme_names(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for number in range(14):
                (folder / f"{number}.md").write_text("A page.", "utf-8")
            text = "".join(f"| a | [a](0.md) [b](1.md) [{n}]({n}.md) |\n" for n in range(14))
            found = [what for _, what in check_docs.check_manual(folder, text)]
            self.assertEqual(found, ["leads 12 readers, not 4"])
            (folder / "14.md").write_text("A page.", "utf-8")
            (folder / "log.txt").write_text("A log.", "utf-8")
            found = [what for _, what in check_docs.check_manual(folder, text)]
            self.assertEqual(found[:3], ["15 manual pages, at most 14",
                                         "does not name the manual page 14.md",
                                         "neither a manual page nor one of the folders: log.txt"])

    def test_the_picture_of_speed_has_the_figures_of_the_page(self):
        page = check_docs.speed_picture.PAGE.read_text("utf-8")
        self.assertEqual(len(check_docs.speed_picture.rows(page)), 24)
        picture = check_docs.speed_picture.PICTURE.read_text("utf-8")
        self.assertEqual(list(check_docs.check_picture(page, picture)), [])
        self.assertEqual(len(list(check_docs.check_picture(page, picture.replace("2.54", "9")))), 1)


class Lists(unittest.TestCase):
    def test_a_decision_has_at_most_25_lines(self):
        path = Path("docs/decisions/0001-a.md")
        self.assertEqual(list(check_docs.check_decision(path, "line\n" * 25)), [])
        self.assertEqual(len(list(check_docs.check_decision(path, "line\n" * 26))), 1)

    def test_the_list_of_operators_is_that_of_the_reader(self):
        path = check_docs.ROOT / "docs/methods/operators.md"
        text = path.read_text("utf-8")
        self.assertEqual(list(check_docs.check_operators(path, text)), [])
        bad = text.replace("| `Conv` |", "| `Cnv` |")
        self.assertEqual(list(check_docs.check_operators(path, bad)),
                         [(1, "the operator Conv is missing"),
                          (1, "the reader does not know the operator Cnv")])


if __name__ == "__main__":
    unittest.main()
