#!/usr/bin/env python3
"""Average precision beside pycocotools', on random sets of boxes; skipped where it is not installed.
The argument is the program average_precision_of."""
import contextlib
import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SETS = 200
CLOSE = 1e-6
WIDTH, HEIGHT = 640, 480
CATEGORIES = [{"id": number, "name": f"class {number}"} for number in (2, 3, 7, 11)]

try:
    import numpy
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def random_box(chance):
    width = min(WIDTH, chance.choice((8, 40, 150, 400)) * chance.uniform(0.5, 1.5))
    height = min(HEIGHT, width * chance.uniform(0.5, 2))
    return [chance.uniform(0, WIDTH - width), chance.uniform(0, HEIGHT - height), width, height]


def random_truth(chance):
    images = [{"id": i + 1, "file_name": f"{i + 1:06}.jpg", "width": WIDTH, "height": HEIGHT}
              for i in range(chance.randint(1, 6))]
    annotations = []
    for image in images:
        for _ in range(chance.choice((0, 1, 4, 12))):
            box = random_box(chance)
            annotations.append({
                "id": len(annotations) + 1, "image_id": image["id"], "bbox": box,
                "category_id": chance.choice(CATEGORIES)["id"],
                "area": box[2] * box[3] * chance.choice((1, chance.uniform(0.3, 1))),
                "iscrowd": int(chance.random() < 0.15)})
    return {"images": images, "annotations": annotations, "categories": CATEGORIES}


def near(box, chance):
    spread = chance.choice((0, 0.02, 0.1, 0.3))
    return [box[0] + box[2] * chance.gauss(0, spread), box[1] + box[3] * chance.gauss(0, spread),
            box[2] * (1 + chance.uniform(-spread, spread)),
            box[3] * (1 + chance.uniform(-spread, spread))]


def random_detections(truth, chance):
    """Near what is there, some of another class, many of one object, and out of nothing; equal
    scores too. More than 100 of a class in some pictures."""
    found = []

    def add(image, category, box):
        found.append({"image_id": image, "category_id": category, "bbox": box,
                      "score": round(chance.random(), chance.choice((1, 2, 6)))})

    for each in truth["annotations"]:
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            other = chance.random() < 0.1
            category = chance.choice(CATEGORIES)["id"] if other else each["category_id"]
            add(each["image_id"], category, near(each["bbox"], chance))
    for image in truth["images"]:
        for _ in range(chance.choice((0, 3, 10, 600))):
            add(image["id"], chance.choice(CATEGORIES)["id"], random_box(chance))
    chance.shuffle(found)
    return found


def by_pycocotools(truth, found):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = json.loads(json.dumps(truth))
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(json.loads(json.dumps(found))), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    stats = [evaluation.stats[i] for i in (0, 1, 2, 3, 4, 5, 8)]
    precision = evaluation.eval["precision"][:, :, :, 0, 2]
    classes = {}
    for k in range(len(CATEGORIES)):
        of_class = precision[:, :, k]
        classes[str(k)] = [float(numpy.mean(of_class)), float(numpy.mean(of_class[0]))]
    return stats, classes


def by_millrace(program, truth, found):
    numbers = {each["id"]: i for i, each in enumerate(CATEGORIES)}
    names = {each["id"]: Path(each["file_name"]).stem for each in truth["images"]}
    boxes = [{"file_name": names[each["image_id"]], "label": numbers[each["category_id"]],
              "score": each["score"], "bbox": each["bbox"]} for each in found]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "truth.json", Path(folder) / "found.json"]
        for path, value in zip(paths, (truth, boxes)):
            path.write_text(json.dumps(value))
        answer = subprocess.run([program, *map(str, paths)], check=True, capture_output=True)
    result = json.loads(answer.stdout)
    return result["stats"], result["classes"]


def differences(program, seed):
    chance = random.Random(seed)
    truth = random_truth(chance)
    found = random_detections(truth, chance)
    if not found:
        return 0, []
    expected, expected_classes = by_pycocotools(truth, found)
    stats, classes = by_millrace(program, truth, found)
    pairs = [*zip(expected, stats)]
    for k, values in expected_classes.items():
        pairs += zip(values, classes.get(k, [-1, -1]))
    return len(pairs), [pair for pair in pairs if abs(pair[0] - pair[1]) > CLOSE]


def main():
    compared, failed, seed = 0, 0, 0
    while compared < SETS:
        seed += 1
        count, wrong = differences(sys.argv[1], seed)
        compared += count > 0  # a set may have no detection
        if wrong:
            failed += 1
            print(f"set {seed}: pycocotools and this: {wrong[:3]}")
    print(f"{compared} sets compared, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
