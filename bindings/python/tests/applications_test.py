"""Heads of applications, beside what the command finds with the same model."""
import json
import os
import tempfile
import threading
import unittest

import numpy

import millrace
from support import DIGITS, EXAMPLES, MODELS, code_of_child, run, seconds_to_end

PICTURES = os.path.join(MODELS, "digits_images")
CASCADE = os.path.join(EXAMPLES, "..", "cascade", "cascade.yaml")
SHEET = os.path.join(EXAMPLES, "..", "cascade", "sheet.png")


class Applications(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = millrace.Classifier(DIGITS, top=3, measure=0)

    def test_a_folder_is_classified_like_the_command_does(self):
        results = list(self.model(PICTURES))
        self.assertGreater(len(results), 5)
        with tempfile.TemporaryDirectory() as folder:
            application = os.path.join(folder, "digits.yaml")
            with open(application, "w") as file:
                file.write(f"format: 1\nnetwork: {{model: {DIGITS}}}\ninput: {{images: {PICTURES}}}\n"
                           "preprocess: {colours: grey}\n"
                           f"postprocess: {{kind: top_k, top: 3}}\noutput: {{json: {folder}/out.jsonl}}\n")
            done = run("run", application, cwd=folder)
            if "libmillrace_codecs" in done.stderr:
                self.skipTest("the command of a wheel reads no pictures")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "out.jsonl")) as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual(len(lines), len(results))
        by_name = {os.path.basename(line["source"]): line for line in lines}
        for result in results:
            line = by_name[os.path.basename(result.source)]
            self.assertEqual([c.label for c in result.classes], [c["class"] for c in line["classes"]])
            for ours, theirs in zip(result.classes, line["classes"]):  # plans may differ, which round
                self.assertAlmostEqual(ours.score, theirs["value"], delta=1e-5 * abs(theirs["value"]) + 1e-6)
            self.assertIn(f"digit_{result.classes[0].label}", result.source)

    def test_arrays_and_single_pictures(self):
        pixels = self.model.run(os.path.join(PICTURES, sorted(os.listdir(PICTURES))[0])).picture
        self.assertEqual((pixels.dtype, pixels.shape[2]), (numpy.uint8, 3))
        again = list(self.model([pixels, pixels[..., 0]]))
        self.assertEqual(again[0].classes, again[1].classes)
        self.assertEqual([result.frame for result in again], [0, 1])
        self.assertEqual(list(self.model(pixels[..., ::-1], colours="bgr"))[0].classes, again[0].classes)

    def test_plot_and_save(self):
        result = next(self.model(PICTURES))
        self.assertEqual(result.plot().shape, result.picture.shape)
        with tempfile.TemporaryDirectory() as folder:
            path = result.save(folder)
            again = self.model.run(path)
            numpy.testing.assert_array_equal(again.picture, result.plot())

    def test_a_detector_gives_boxes(self):
        model = millrace.Detector("yolov3_tiny", kind="yolo", threshold=0.01, measure=0, search="one-processor")
        picture = numpy.random.default_rng(1).integers(0, 255, (240, 320, 3), numpy.uint8)
        for result in model([picture, picture]):
            self.assertEqual(result.boxes.xyxy.shape, (len(result.boxes), 4))
            self.assertEqual(len(result.boxes.score), len(result.boxes))
            self.assertTrue((result.boxes.xyxy >= 0).all() and (result.boxes.xyxy <= 320).all())
            self.assertEqual(result.plot().shape, (240, 320, 3))

    def test_crops_are_those_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            plan, lines = os.path.join(folder, "both.plan.json"), os.path.join(folder, "out.jsonl")
            self.assertEqual(run("plan", CASCADE, "--measure", 0, "-o", plan).returncode, 0)
            results = [next(millrace.Detector(CASCADE, plan=plan)(SHEET)),
                       next(millrace.Detector(CASCADE, measure=0)(SHEET))]
            done = run("run", CASCADE, "--plan", plan, "-o", lines)
            if "libmillrace_codecs" in done.stderr:
                self.skipTest("the command of a wheel reads no pictures")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(lines) as file:
                boxes = json.loads(file.read())["detections"]
        for result in results:
            found = json.loads(result.to_json(), parse_float=lambda text: round(float(text), 3))
            self.assertEqual(found["detections"], json.loads(json.dumps(boxes), parse_float=lambda text: round(float(text), 3)))
            self.assertEqual(len(result.crops), 12)
            for crop in result.crops:
                there = boxes[crop.box]["crop"]
                self.assertEqual(crop.classes[0].label, there["classes"][0]["class"])
                self.assertEqual(crop.classes[0].name, there["classes"][0]["label"])
                self.assertAlmostEqual(crop.classes[0].score, there["classes"][0]["value"], delta=1e-5)
                left, top, right, bottom = crop.xyxy
                self.assertEqual([left, top, right - left, bottom - top],
                                 [there[side] for side in ("left", "top", "width", "height")])
            self.assertFalse((result.plot() == result.picture).all())

    def test_a_plan_with_crops_whose_file_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "both.plan.json")
            self.assertEqual(run("plan", CASCADE, "--measure", 0, "-o", path).returncode, 0)
            plan = millrace.Plan(path)
            self.assertEqual(len(millrace.Detector(CASCADE, plan=plan).run(SHEET).crops), 12)
            with open(path) as file:
                text = file.read()
            with open(path, "w") as file:
                file.write(text.replace("stage0", "first"))
            with self.assertRaisesRegex(millrace.Error, "has changed since the plan was read; read it again"):
                millrace.Detector(CASCADE, plan=plan).run(SHEET)

    def test_run_from_threads_and_in_a_child(self):
        pictures = [os.path.join(PICTURES, name) for name in sorted(os.listdir(PICTURES))]
        expected = [self.model.run(path).classes for path in pictures]
        found = [None] * len(pictures)

        def work(first):
            for i in range(first, len(pictures), 3):
                found[i] = self.model.run(pictures[i]).classes

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(found, expected)

        def in_child():
            self.assertEqual(self.model.run(pictures[0]).classes, expected[0])
            self.assertEqual([result.classes for result in self.model(pictures)], expected)

        self.assertEqual(code_of_child(in_child), 0)

    def test_ctrl_c_ends_pictures_within_a_second(self):
        code = f"""
    import numpy
    model = millrace.Classifier({DIGITS!r}, measure=0)
    picture = numpy.zeros((8, 8, 3), numpy.uint8)
    for result in model(picture for _ in iter(int, 1)): pass"""
        self.assertLess(seconds_to_end(code.strip(), after=4), 1.0)

    def test_wrong_pictures(self):
        for source, words in [("/nowhere.png", "/nowhere.png"), (3, "found a int, expected a file"),
                              (numpy.zeros((4, 4, 2), numpy.uint8), "expected uint8 of the shape"),
                              (numpy.zeros((4, 4, 3)), "found float64 4x4x3")]:
            with self.subTest(words), self.assertRaisesRegex(millrace.Error, words):
                list(self.model(source))

    def test_a_source_that_raises(self):
        def frames():
            yield numpy.zeros((8, 8, 3), numpy.uint8)
            raise ZeroDivisionError("of the source")

        with self.assertRaisesRegex(ZeroDivisionError, "of the source"):
            list(self.model(frames()))


if __name__ == "__main__":
    unittest.main()
