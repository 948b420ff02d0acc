#!/usr/bin/env python3
"""bench/compare: figures, tables and options; nothing is run."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
from comparison import contenders, environment, figures, report, table  # noqa: E402
from comparison.failed import reason_of  # noqa: E402


def pieces(*rates, latency=10.0):
    """One slice of a second per rate."""
    return [{"frames": rate, "elapsed_s": 1.0, "latencies_ms": [latency] * rate} for rate in rates]


def contender(peer, setting, slices, precision="f32", batch=1):
    return {"peer": peer, "name": contenders.NAMES[peer], "precision": precision, "batch": batch,
            "setting": setting, "text": setting, "missing": "" if slices else "no such thing",
            "answers": {"error": 2.5e-6, "same_top": 7, "frames": 8} if slices else {},
            "slices": slices}


def network(*others, name="net"):
    return {"name": name, "shares": {"idle": [0.0, 0.01], "others": [0.02, 0.3]},
            "contenders": [contender("millrace", "plan", pieces(200, 220, 180)),
                           contender("millrace", "one", pieces(90, 80, 70, latency=4.0)),
                           *others]}


def row_of(text, start):
    return next(line for line in text.splitlines() if line.startswith(start))


class Figures(unittest.TestCase):
    def test_the_median_of_an_even_number_lies_between_the_middle_two(self):
        self.assertEqual(figures.median([4, 1, 3, 2]), 2.5)
        self.assertEqual(figures.median([9, 1, 2]), 2)

    def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed(self):
        values = list(range(100, 0, -1))
        self.assertEqual(figures.percentile(values, 0.5), 50)
        self.assertEqual(figures.percentile(values, 0.99), 99)
        self.assertEqual(figures.percentile([7], 0.5), 7)
        self.assertEqual(figures.percentile([1, 2, 3], 0.99), 3)

    def test_a_ratio_is_taken_repetition_by_repetition(self):
        # The machine halved its speed for both: the ratio does not see it.
        self.assertEqual(figures.ratio([200, 100, 200], [100, 50, 80]), figures.Spread(2, 2, 2.5))

    def test_rates_are_frames_per_second(self):
        self.assertEqual(figures.rates([{"frames": 30, "elapsed_s": 1.5}]), [20])

    def test_the_geometric_mean_of_a_factor_and_its_inverse_is_one(self):
        self.assertAlmostEqual(figures.geometric_mean([4, 0.25]), 1)


class Table(unittest.TestCase):
    def test_columns_are_as_wide_as_their_widest_cell(self):
        self.assertEqual(table.text(["<name", "fps"], [["a", "1234"], ["longer", "5"]]),
                         "name     fps\n------  ----\na       1234\nlonger     5\n")


class Report(unittest.TestCase):
    def test_the_setting_with_the_best_median_counts(self):
        text = report.throughput_table(network(
            contender("onnxruntime", "lucky once", pieces(50, 999, 60)),
            contender("onnxruntime", "steady", pieces(100, 101, 99))))
        row = row_of(text, "ONNX Runtime f32")
        self.assertIn("steady", row)
        self.assertNotIn("lucky", text)
        self.assertRegex(row, r"100\.0 +99\.00 \.\. 101\.0 ")

    def test_ratios_show_their_spread(self):
        text = report.throughput_table(network(contender("ncnn", "each", pieces(100, 100, 100))))
        self.assertIn("2.00 x (1.80 .. 2.20)", row_of(text, "ncnn f32"))

    def test_answers_stand_beside_the_figures(self):
        row = row_of(report.throughput_table(network()), "Millrace f32")
        self.assertRegex(row, r"2\.5e-06 +7 of 8$")

    def test_a_peer_without_figures_is_one_row_with_the_reason(self):
        text = report.throughput_table(network(contender("openvino", "latency", []),
                                               contender("openvino", "throughput", [])))
        self.assertEqual(text.count("OpenVINO"), 1)
        self.assertIn("not available: no such thing", row_of(text, "OpenVINO f32"))

    def test_a_setting_without_figures_is_named_below_its_row(self):
        found = report.gaps(network(contender("openvino", "latency", []),
                                    contender("openvino", "throughput", pieces(10))))
        self.assertEqual(found, "OpenVINO f32, latency: not available: no such thing\n")

    def test_batch_sizes_and_precisions_have_rows_of_their_own(self):
        text = report.throughput_table(network(
            contender("openvino", "throughput", pieces(10), precision="bf16", batch=8)))
        self.assertTrue(row_of(text, "OpenVINO bf16, batch 8"))

    def test_each_precision_of_millrace_is_held_against_every_row(self):
        text = report.throughput_table(network(
            contender("millrace", "plan", pieces(400, 400, 400), precision="bf16")))
        self.assertIn("Millrace bf16 is", text)
        self.assertIn("2.00 x (1.82 .. 2.22)", row_of(text, "Millrace f32"))
        self.assertIn("0.50 x (0.45 .. 0.55)", row_of(text, "Millrace bf16"))

    def test_the_quickest_setting_is_chosen_by_its_median_latency(self):
        text = report.latency_table(network(
            contender("ncnn", "many at once", pieces(500, 500, 500, latency=20.0)),
            contender("ncnn", "one", pieces(100, 100, 100, latency=8.0))))
        self.assertRegex(row_of(text, "Millrace f32"), r"one +4\.000 ms")
        self.assertRegex(row_of(text, "ncnn f32"), r"one +8\.000 ms.* 2\.00 x")

    def test_what_others_took_from_the_cores_is_said(self):
        self.assertIn("0.5 % (at most 1.0 %) to peers that should sleep, "
                      "16.0 % (at most 30.0 %)", report.disturbance(network()))

    def test_it_is_said_when_answers_were_not_compared(self):
        measured = network()
        for one in measured["contenders"]:
            one["answers"] = {}
        self.assertIn("answers were not compared", report.uncompared(measured))
        self.assertEqual(report.uncompared(network()), "")

    def test_the_summary_has_a_row_per_network_and_their_geometric_mean(self):
        text = report.summary([
            network(contender("ncnn", "all", pieces(50, 50, 50)), name="first"),
            network(contender("ncnn", "all", pieces(800, 800, 800)), name="second")])
        self.assertIn("4.00 x", row_of(text, "first"))
        self.assertIn("0.25 x", row_of(text, "second"))
        self.assertIn("1.00 x", row_of(text, "geometric mean"))

    def test_the_summary_says_how_many_times_as_long_others_take_for_a_frame(self):
        text = report.summary([
            network(contender("ncnn", "all", pieces(50, 50, 50, latency=10.0)), name="first")])
        throughput, latency = text.split("Millrace f32, median latency")
        self.assertIn("4.00 x", row_of(throughput, "first"))
        self.assertIn("2.50 x", row_of(latency, "first"))

    def test_small_and_large_numbers_have_four_digits(self):
        self.assertEqual([report.number(value) for value in (0.01234, 1.5, 99.95, 12345.6, 0)],
                         ["0.01234", "1.500", "99.95", "12346", "0"])


class Contenders(unittest.TestCase):
    def test_settings_for_several_cores_are_left_out_on_one(self):
        self.assertEqual([one.text for one in contenders.onnxruntime([1], 1)],
                         ["one session, one thread"])
        self.assertEqual([one.text for one in contenders.onnxruntime([1], 2)],
                         ["one session, 2 threads", "one session per core"])
        self.assertEqual([one.setting for one in contenders.millrace([], 1)],
                         ["plan", "plan, one frame"])
        self.assertEqual([one.setting for one in contenders.millrace([], 2)],
                         ["plan", "plan, one frame", "together"])

    def test_millrace_takes_part_once_per_precision_asked_for(self):
        self.assertEqual({one.precision for one in contenders.millrace([], 2)}, {"f32"})
        self.assertEqual({one.precision for one in contenders.millrace(["f32", "bf16"], 2)},
                         {"f32", "bf16"})


class Reasons(unittest.TestCase):
    def test_the_last_line_that_names_an_error_is_the_reason(self):
        self.assertEqual(reason_of("loading\nRuntimeError: no such operator\nbye\n"),
                         "RuntimeError: no such operator")
        self.assertEqual(reason_of("error: this\n"), "this")
        self.assertEqual(reason_of("millrace: x.json: wrong\n\n"), "millrace: x.json: wrong")
        self.assertEqual(reason_of(""), "no reason was given")


class Requirements(unittest.TestCase):
    def test_all_that_peers_need_is_pinned(self):
        needed = {*environment.COMMON, *(one for some in environment.PEERS.values()
                                         for one in some)}
        pinned = environment.pinned()
        self.assertEqual(set(pinned), needed)
        for requirement in pinned.values():
            self.assertRegex(requirement, r"^[a-z]+==[0-9.]+$")


class Command(unittest.TestCase):
    def compare(self, *arguments):
        return subprocess.run([sys.executable, BENCH / "compare", *arguments],
                              capture_output=True, text=True)

    def test_help_needs_no_environment(self):
        done = self.compare("--help", "--venv", "/nowhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--repetitions", done.stdout)

    def test_an_unknown_peer_is_refused_with_the_known_ones(self):
        done = self.compare("--peers", "onnx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("found 'onnx', expected some of millrace,python,onnxruntime", done.stderr)

    def test_stored_runs_become_tables_again(self):
        result = {"machine": {"cpu": "A processor", "features": ["avx2"]},
                  "versions": {"millrace": "millrace 1"},
                  "options": {"cores": [0, 1], "repetitions": 3, "duration": 1.0},
                  "networks": [network(contender("ncnn", "all", pieces(50, 50, 50)))]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stored.json"
            path.write_text(json.dumps(result))
            done = self.compare("--show", path, "--settings")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("net on cores 0,1: 3 repetitions of 1 s in turns", done.stdout)
        self.assertIn("4.00 x (3.60 .. 4.40)", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
