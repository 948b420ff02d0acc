"""What the steps of accuracy.case look at; see run_check.py."""

import json
import os
from pathlib import Path


def lines(path):
    return [json.loads(line) for line in open(path)]


def names():
    return Path(os.environ["SOURCE"], "../shared/models/labels/coco.names").read_text().split("\n")


def inside(detection, width, height):
    box = detection["box"]
    left, top = max(0, box["left"]), max(0, box["top"])
    return [left, top, min(box["left"] + box["width"], width) - left,
            min(box["top"] + box["height"], height) - top]


def as_ground_truth():
    for folder in ("yolo", "voc"):
        os.mkdir(folder)
    images, annotations = [], []
    for line in lines("r.jsonl"):
        width, height, stem = line["width"], line["height"], Path(line["source"]).stem
        images.append({"id": len(images) + 1, "file_name": line["source"], "width": width,
                       "height": height})
        text, objects = "", ""
        for found in line["detections"]:
            box = inside(found, width, height)
            annotations.append({"id": len(annotations) + 1, "image_id": len(images), "bbox": box,
                                "category_id": found["class"] + 1})
            x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
            text += f"{found['class']} {x / width} {y / height} {box[2] / width} {box[3] / height}\n"
            corners = zip(("xmin", "ymin", "xmax", "ymax"),
                          (box[0] + 1, box[1] + 1, box[0] + box[2], box[1] + box[3]))
            objects += (f"<object><name>{found['label']}</name><bndbox>" +
                        "".join(f"<{key}>{value}</{key}>" for key, value in corners) +
                        "</bndbox></object>")
        Path("yolo", stem + ".txt").write_text(text)
        Path("voc", stem + ".xml").write_text(
            f"<annotation><size><width>{width}</width><height>{height}</height></size>{objects}"
            "</annotation>")
    write(images, annotations, "coco.json")


def write(images, annotations, path):
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(names()) if name]
    Path(path).write_text(json.dumps(
        {"images": images, "annotations": annotations, "categories": categories}))


def one_moved():
    truth = json.load(open("coco.json"))
    bird = names().index("bird") + 1
    (moved,) = [each for each in truth["annotations"] if each["category_id"] == bird]
    moved["bbox"] = [0, 0, 20, 20]
    write(truth["images"], truth["annotations"], "moved.json")


def same_lines(one, other):
    def findings(path):
        return [(line["source"], line["detections"]) for line in lines(path)]
    print("the same findings" if findings(one) == findings(other) else "other findings")


def bench_has_accuracy():
    found = json.load(open("b.json"))["accuracy"]["detection"]
    print(f"{found['objects']} objects, at 0.5: {found['average_precision_50']}")
