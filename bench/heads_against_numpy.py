#!/usr/bin/env python3
"""Findings of `millrace detect` and `classify` on 50 pictures against a decoder of its own: OpenCV, ONNX Runtime and numpy.

  heads_against_numpy.py MILLRACE MODELS [PICTURES]

MODELS: a folder with onnx/yolox_nano.onnx, onnx/ultraface_slim320_nopost.onnx, onnx/squeezenet_fp32_cast.onnx, images/ and
pedestrians_768x576.avi. Needs numpy, onnxruntime and opencv-python-headless. Without a preprocess section. Exit code 1 if a box differs by
more than a pixel or 0.01 of its score.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

THRESHOLD, OVERLAP = 0.25, 0.45


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def make_pictures(models, folder, wanted):
    """PNG files, which everybody decodes alike: photographs, then frames of the video."""
    images = [cv2.imread(str(file)) for file in sorted((models / "images").glob("*.jpg"))]
    video = cv2.VideoCapture(str(models / "pedestrians_768x576.avi"))
    frames = int(video.get(cv2.CAP_PROP_FRAME_COUNT))
    step, number = max(1, frames // max(1, wanted - len(images))), 0
    while len(images) < wanted:
        there, image = video.read()
        if not there:
            break
        if number % step == 0:
            images.append(image)
        number += 1
    folder.mkdir()
    for number, image in enumerate(images):
        cv2.imwrite(str(folder / f"{number:03}.png"), image)
    return sorted(folder.iterdir())


def greedy(boxes, scores, labels):
    """Suppression, class by class."""
    kept = []
    for row in [i for i in np.argsort(-scores, kind="stable") if scores[i] > THRESHOLD]:
        rivals = [k for k in kept if labels[k] == labels[row]]
        if rivals:
            low, high = np.maximum(boxes[row, :2], boxes[rivals, :2]), np.minimum(boxes[row, 2:], boxes[rivals, 2:])
            both = np.prod(np.clip(high - low, 0, None), 1)
            area = np.prod(boxes[row, 2:] - boxes[row, :2]) + np.prod(boxes[rivals, 2:] - boxes[rivals, :2], 1)
            if (both / (area - both)).max() > OVERLAP:
                continue
        kept.append(row)
    return kept


def yolox(session, image):
    """As the demo of its authors: at the upper left, grey beside it, blue first, 0 to 255."""
    longer = max(image.shape[:2])  # in whole numbers: the demo's ratio makes 415 columns of 773, not 416
    size = (image.shape[1] * 416 // longer, image.shape[0] * 416 // longer)
    canvas = np.full((416, 416, 3), 114, np.uint8)
    canvas[:size[1], :size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
    rows = session.run(None, {session.get_inputs()[0].name: canvas.transpose(2, 0, 1)[None].astype(np.float32)})[0][0]
    cells = [(x, y, stride) for stride in (8, 16, 32) for y in range(416 // stride) for x in range(416 // stride)]
    grid = np.array(cells, np.float64)
    centres, sides = (rows[:, :2] + grid[:, :2]) * grid[:, 2:], np.exp(rows[:, 2:4]) * grid[:, 2:]
    back = [image.shape[1] / size[0], image.shape[0] / size[1]]  # the demo divides by its ratio, up to a row beside the picture's
    boxes = np.concatenate([centres - sides / 2, centres + sides / 2], 1) * (2 * back)
    return boxes, rows[:, 4] * rows[:, 5:].max(1), rows[:, 5:].argmax(1)


def ultraface(session, image):
    """As the demo of its authors: stretched to 320 x 240, red first, (byte - 127) / 128."""
    pixels = cv2.resize(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), (320, 240)).astype(np.float32)
    outputs = session.run(None, {session.get_inputs()[0].name: ((pixels - 127) / 128).transpose(2, 0, 1)[None]})
    scores, moves = sorted((output[0] for output in outputs), key=lambda output: output.shape[1])
    prior = np.array([((x + 0.5) / -(-320 // stride), (y + 0.5) / -(-240 // stride), side / 320, side / 240)
                      for sides, stride in zip(([10, 16, 24], [32, 48], [64, 96], [128, 192, 256]), (8, 16, 32, 64))
                      for y in range(-(-240 // stride)) for x in range(-(-320 // stride)) for side in sides])
    centres, sides = prior[:, :2] + moves[:, :2] * 0.1 * prior[:, 2:], prior[:, 2:] * np.exp(0.2 * moves[:, 2:])
    boxes = np.concatenate([centres - sides / 2, centres + sides / 2], 1) * (2 * [image.shape[1], image.shape[0]])
    return boxes, scores[:, 1], np.zeros(len(scores), int)


def differences(found, boxes, scores, labels, image):
    """Of boxes in pixels and of scores; nothing: a box has no other."""
    height, width = image.shape[:2]
    kept = greedy(boxes, scores, labels)
    if len(found) != len(kept):
        return None
    worst = [0.0, 0.0]
    for row, each in zip(kept, found):
        box = each["box"]
        here = np.array([box["left"], box["top"], box["left"] + box["width"], box["top"] + box["height"]])
        there = np.clip(boxes[row], 0, [width, height, width, height])
        if each["class"] != labels[row]:
            return None
        worst = [max(worst[0], np.abs(here - there).max()), max(worst[1], abs(each["probability"] - scores[row]))]
    return worst


def compare_boxes(millrace, model, decode, words, files):
    subprocess.run([millrace, "detect", str(model), str(files[0].parent), *words, "-o", "found"], check=True, capture_output=True)
    lines = [json.loads(line) for line in open("found/findings.jsonl")]
    session = session_of(model)
    count, worst, unlike = 0, [0.0, 0.0], []
    for file, line in zip(files, lines, strict=True):
        image = cv2.imread(str(file))
        difference = differences(line["detections"], *decode(session, image), image)
        if difference is None:
            unlike.append(file.name)
            continue
        count += len(line["detections"])
        worst = [max(pair) for pair in zip(worst, difference)]
    print(f"{model.stem}: {len(files)} pictures, {count} boxes, at most {worst[0]:.3f} pixels and {worst[1]:.5f} apart; other boxes in {unlike or 'none'}")
    return not unlike and worst[0] <= 1 and worst[1] <= 0.01


def compare_classes(millrace, model, files):
    """ImageNet: a square of 224, mean and deviation of its training. Five classes and their order."""
    subprocess.run([millrace, "classify", str(model), str(files[0].parent), "-o", "classes"], check=True, capture_output=True)
    lines = [json.loads(line) for line in open("classes/findings.jsonl")]
    session = session_of(model)
    alike, worst = 0, 0.0
    for file, line in zip(files, lines, strict=True):
        pixels = cv2.resize(cv2.cvtColor(cv2.imread(str(file)), cv2.COLOR_BGR2RGB), (224, 224)).astype(np.float32) / 255
        pixels = (pixels - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
        scores = session.run(None, {session.get_inputs()[0].name: pixels.transpose(2, 0, 1)[None]})[0].ravel()
        top = np.argsort(-scores, kind="stable")[:5]
        alike += [each["class"] for each in line["classes"]] == list(top)
        worst = max([worst] + [abs(each["value"] - scores[each["class"]]) for each in line["classes"]])
    print(f"{model.stem}: {len(files)} pictures, {alike} with the same five classes in the same order, values at most {worst:.5f} apart")
    return alike == len(files)


def main():
    millrace, models = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        files = make_pictures(models, Path(folder) / "pictures", int(sys.argv[3]) if len(sys.argv) > 3 else 50)
        results = [compare_boxes(millrace, models / "onnx/yolox_nano.onnx", yolox, ["--set", "application.head=yolox"], files),
                   compare_boxes(millrace, models / "onnx/ultraface_slim320_nopost.onnx", ultraface, ["--set", "application.head=ultraface"], files),
                   compare_classes(millrace, models / "onnx/squeezenet_fp32_cast.onnx", files)]
        os.chdir("/")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
