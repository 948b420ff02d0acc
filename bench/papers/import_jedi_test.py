"""What jedi_config.py reads of libconfig's format, and how it names mistakes. tests/cases/jedi.case has the whole way."""
import unittest

from jedi_config import Wrong, parse


def around(settings, number="1"):
    return f'configs = {{\n instance_num = "{number}";\n instances = (\n  {{\n{settings}  }}\n );\n}}\n'


def parsed(content):
    return parse(content if isinstance(content, bytes) else content.encode(), "x.cfg")


class Configurations(unittest.TestCase):
    def test_values_in_quotation_marks_and_numbers_are_read(self):
        (found,), notes = parsed(around('batch = " 4 "; streams = "1," " 2,3" device_num : 2 # "\n/* } */ offset = 0x10L;'))
        self.assertEqual(found.count("batch", 1, 8), 4)
        self.assertEqual(found.count("device_num", 1, 8), 2)
        self.assertEqual(found.count("offset", 0, 16), 16)
        self.assertEqual(found.counts("streams", 9), [1, 2, 3])
        self.assertEqual(found.count("sample_size", 0, 8), 0)
        self.assertEqual(notes, [])

    def test_instance_num_counts_instances(self):
        instances, notes = parsed('configs = { instance_num = "1"; instances = ({}, {}); }')
        self.assertEqual((len(instances), len(notes)), (1, 1))

    def test_keys_of_own_applications_are_free(self):
        (found,), _ = parsed(around('app_type = "Mine"; gamma = "2";'))
        self.assertEqual(found.text("gamma"), "2")

    def test_mistakes_have_line_finding_and_remedy(self):
        for content, words in (
                ("configs = { instance_num = ", "x.cfg: line 1: syntax error"),
                (around("", "2"), "x.cfg: line 2: instance_num: found '2', but there are 1 instances"),
                (around('cut_point = "1";'), "x.cfg: line 5: 'cut_point' is no key of JEDI's; did you mean 'cut_points'?"),
                (around("batch = ( 1 );"), "batch: expected a value in quotation marks"),
                (around('batch = "1"; batch = "2";'), "x.cfg: line 5: duplicate setting name"),
                ("a = 1;", "has no 'configs' (found 'a')"),
                ("configs = 1;", "has no 'instance_num' (found nothing)"),
                ('  @include "/etc/passwd"\n', "line 1: includes another file, which is not read"),
                ("a = 1;\0b", "holds a byte 0"),
                ("a = " + "(" * 40, "more than 32 levels of brackets"),
                ('# (" )\n/*/("*/ b = "\\")";\na = (")", (")", ' + "(" * 31, "line 3: has more than 32 levels of brackets"),
                ('a = 1;\nb = "c;\n', "line 3: syntax error"),
                (" " * 300_000, "is larger than 262144 bytes"),
                (around('batch = "a\\x01";'), "control character"),
                (around("").encode().replace(b"{\n  }", b'{ image_path = "list\xad"; }'), "holds a byte that is not UTF-8"),
        ):
            with self.assertRaises(Wrong) as found:
                parsed(content)
            self.assertIn(words, str(found.exception))

    def test_damaged_files_are_answered_with_a_sentence(self):
        whole = around('batch = "4"; streams = "1,2"; /* c */ model_dir = "a\\"b";')
        for at in range(len(whole)):
            for damaged in (whole[:at], whole[:at] + "}" + whole[at:], whole[:at] + '"' + whole[at + 1:]):
                try:
                    parsed(damaged)
                except Wrong as wrong:
                    self.assertTrue(str(wrong).startswith("x.cfg: "))


if __name__ == "__main__":
    unittest.main()
