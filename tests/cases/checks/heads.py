"""What the steps of heads.case look at; see run_check.py.

Outputs of a network are made up, put into a model, and decoded here with numpy, in other words than
those of the project: what `millrace run` says must be the same boxes within a pixel.
"""

import json
import subprocess
import zlib

import numpy as np
import onnx_writer

WIDTH, HEIGHT = 96, 64  # of the input
PICTURE = (120, 100)  # letterboxed: 77 x 64 pixels of the input from column 9
CLASSES = 3
THRESHOLD, OVERLAP = 0.25, 0.45


def cells(strides=(8, 16, 32)):
    """Column, row and stride of each cell."""
    rows = []
    for stride in strides:
        for y in range(-(-HEIGHT // stride)):
            rows += [(x, y, stride) for x in range(-(-WIDTH // stride))]
    return np.array(rows, dtype=np.float64)


def random_boxes(rng, count):
    """x, y of the centre, width, height in pixels of the input."""
    low, high = [5, 5, 8, 8], [WIDTH - 5, HEIGHT - 5, 40, 30]
    return rng.uniform(low, high, (count, 4))


def few_scores(rng, shape):
    return rng.uniform(0, 1, shape) ** 6


def corners(boxes):
    return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def inverse(p):
    return np.log(p / (1 - p))


class Case:
    """Outputs (name, array), and what follows from them: corners, scores, labels."""

    def __init__(self, outputs, boxes, scores, labels, **more):
        self.outputs, self.boxes, self.scores, self.labels = outputs, boxes, scores, labels
        self.keys = more.get("keys", "")
        self.metadata = more.get("metadata", {})
        self.suppresses = more.get("suppresses", True)
        self.keypoints = more.get("keypoints")
        self.polygons = more.get("polygons")
        self.inside = more.get("inside")  # of row, x, y in the input: above 0 in the mask


def yolov5(rng):
    boxes = random_boxes(rng, 3 * len(cells()))
    objectness, classes = few_scores(rng, len(boxes)), rng.uniform(0, 1, (len(boxes), CLASSES))
    rows = np.concatenate([boxes, objectness[:, None], classes], 1)
    scores = objectness * classes.max(1)
    return Case([("output0", rows[None])], corners(boxes), scores, classes.argmax(1))


def yolov6(rng):
    boxes = random_boxes(rng, len(cells()))
    classes = few_scores(rng, (len(boxes), CLASSES))
    rows = np.concatenate([boxes, np.ones((len(boxes), 1)), classes], 1)
    return Case([("outputs", rows[None])], corners(boxes), classes.max(1), classes.argmax(1),
                keys=", head: yolov6")


def yolox(rng):
    grid = cells()
    boxes = random_boxes(rng, len(grid))
    stride = grid[:, 2:]
    raw = np.concatenate([boxes[:, :2] / stride - grid[:, :2], np.log(boxes[:, 2:] / stride)], 1)
    objectness, classes = few_scores(rng, len(boxes)), rng.uniform(0, 1, (len(boxes), CLASSES))
    rows = np.concatenate([raw, objectness[:, None], classes], 1)
    scores = objectness * classes.max(1)
    return Case([("output", rows[None])], corners(boxes), scores, classes.argmax(1),
                keys=", head: yolox")


def yolov8_rows(rng):
    boxes = random_boxes(rng, len(cells()))
    return boxes, few_scores(rng, (len(boxes), CLASSES))


def yolov8(rng):
    boxes, classes = yolov8_rows(rng)
    rows = np.concatenate([boxes, classes], 1)
    return Case([("output0", rows.T[None])], corners(boxes), classes.max(1), classes.argmax(1))


def segment(rng):
    boxes, classes = yolov8_rows(rng)
    coefficients = rng.normal(0, 1, (len(boxes), 4))
    planes = rng.normal(0, 1, (4, HEIGHT // 4, WIDTH // 4))
    rows = np.concatenate([boxes, classes, coefficients], 1)

    def inside(row, x, y):
        plane = np.tensordot(coefficients[row], planes, 1)
        down = np.clip(y / 4 - 0.5, 0, plane.shape[0] - 1)
        across = np.clip(x / 4 - 0.5, 0, plane.shape[1] - 1)
        by_row = np.array([np.interp(across, np.arange(len(line)), line) for line in plane])
        return np.array([np.interp(down, np.arange(len(column)), column) for column in by_row.T]).T

    return Case([("output0", rows.T[None]), ("output1", planes[None])], corners(boxes),
                classes.max(1), classes.argmax(1), inside=inside)


def pose(rng):
    boxes, classes = yolov8_rows(rng)
    classes = classes[:, :1]
    points = rng.uniform(0, HEIGHT, (len(boxes), 5, 3))
    rows = np.concatenate([boxes, classes, points.reshape(len(boxes), -1)], 1)
    return Case([("output0", rows.T[None])], corners(boxes), classes.max(1), classes.argmax(1),
                metadata={"task": "pose", "kpt_shape": "[5, 3]", "names": "{0: 'person'}"},
                keypoints=points)


def turned_corners(boxes, angles):
    half = boxes[:, None, 2:] / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    turn = np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], 1)
    return boxes[:, None, :2] + np.einsum("nij,nkj->nki", turn.reshape(-1, 2, 2), half)


def obb(rng):
    """Far enough from each other: the overlap of turned boxes has unit tests."""
    boxes, classes = yolov8_rows(rng)
    classes *= 0.2
    chosen = [0, 40, 80, 110]
    boxes[chosen, :2] = [[15, 15], [75, 15], [15, 50], [75, 50]]
    boxes[chosen, 2:] = np.minimum(boxes[chosen, 2:], 20)
    classes[chosen, 1] = [0.9, 0.8, 0.7, 0.6]
    angles = rng.uniform(0.1, 1.5, len(boxes))
    rows = np.concatenate([boxes, classes, angles[:, None]], 1)
    polygons = turned_corners(boxes, angles)
    around = np.concatenate([polygons.min(1), polygons.max(1)], 1)
    return Case([("output0", rows.T[None])], around, classes.max(1), classes.argmax(1),
                metadata={"task": "obb"}, polygons=polygons)


def end_to_end(rng):
    boxes, scores = random_boxes(rng, 50), np.sort(few_scores(rng, 50))[::-1]
    labels = rng.integers(0, CLASSES, 50)
    rows = np.concatenate([corners(boxes), scores[:, None], labels[:, None]], 1)
    return Case([("output0", rows[None])], corners(boxes), scores, labels, suppresses=False)


def rtdetr(rng):
    boxes, classes = random_boxes(rng, 50), few_scores(rng, (50, CLASSES))
    shares = boxes / [WIDTH, HEIGHT, WIDTH, HEIGHT]
    rows = np.concatenate([shares, classes], 1)
    return Case([("output0", rows[None])], corners(boxes), classes.max(1), classes.argmax(1),
                suppresses=False)


def rtdetr_pair(rng):
    boxes, classes = random_boxes(rng, 50), few_scores(rng, (50, CLASSES)) * 0.98 + 0.01
    shares = boxes / [WIDTH, HEIGHT, WIDTH, HEIGHT]
    return Case([("logits", inverse(classes)[None]), ("pred_boxes", shares[None])],
                np.repeat(corners(boxes), CLASSES, 0), classes.reshape(-1),
                np.tile(np.arange(CLASSES), 50), suppresses=False, keys=", head: rtdetr")


def detr(rng):
    boxes, logits = random_boxes(rng, 50), rng.normal(0, 2, (50, CLASSES + 1))
    classes = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    shares = boxes / [WIDTH, HEIGHT, WIDTH, HEIGHT]
    return Case([("logits", logits[None]), ("pred_boxes", shares[None])], corners(boxes),
                classes[:, :-1].max(1), classes[:, :-1].argmax(1), suppresses=False,
                keys=", head: detr")


def nanodet_of(rng, strides, inside, more):
    grid = cells(strides)
    classes = few_scores(rng, (len(grid), CLASSES))
    bins = rng.normal(0, 2, (len(grid), 4, 8))
    share = np.exp(bins) / np.exp(bins).sum(2, keepdims=True)
    left, top, right, bottom = ((share * np.arange(8)).sum(2) * grid[:, 2:]).T
    x, y = ((grid[:, :2] + inside) * grid[:, 2:]).T
    rows = np.concatenate([classes, bins.reshape(len(grid), -1)], 1)
    return Case([("output", rows[None])], np.stack([x - left, y - top, x + right, y + bottom], 1),
                classes.max(1), classes.argmax(1), **more)


def nanodet(rng):
    return nanodet_of(rng, (8, 16, 32), 0.5, {"keys": ", head: nanodet"})


def nanodet_plus(rng):
    names = {"names": "['a', 'b', 'c']"}
    return nanodet_of(rng, (8, 16, 32, 64), 0, {"metadata": names})


def centernet(rng):
    """Peaks that are no neighbours."""
    heat = rng.uniform(0.02, 0.2, (CLASSES, HEIGHT // 4, WIDTH // 4))
    heat[:, 1::4, 2::5] = 0.7 * few_scores(rng, heat[:, 1::4, 2::5].shape) + 0.21
    grid = (2, *heat.shape[1:])
    sizes, offsets = rng.uniform(1, 8, grid), rng.uniform(0, 1, grid)
    labels, y, x = np.nonzero(heat > 0.2)
    boxes = 4 * np.stack([x + offsets[0, y, x], y + offsets[1, y, x], *sizes[:, y, x]], 1)
    return Case([("hm", inverse(heat)[None]), ("reg", offsets[None]),
                 ("wh", sizes[None])],
                corners(boxes), heat[labels, y, x], labels, suppresses=False)


def ssd(rng):
    boxes = corners(random_boxes(rng, 1200)) / [WIDTH, HEIGHT, WIDTH, HEIGHT]
    classes = few_scores(rng, (1200, CLASSES + 1)) ** 2
    return Case([("scores", classes[None]), ("boxes", boxes[None])],
                boxes * [WIDTH, HEIGHT, WIDTH, HEIGHT], classes[:, 1:].max(1),
                classes[:, 1:].argmax(1))


def yolo_nas(rng):
    boxes, classes = yolov8_rows(rng)
    return Case([("boxes", corners(boxes)[None]), ("scores", classes[None])], corners(boxes),
                classes.max(1), classes.argmax(1))


def priors(sizes, strides):
    rows = []
    for stride, sides in zip(strides, sizes):
        for x, y, _ in cells((stride,)):
            rows += [((x + 0.5) * stride, (y + 0.5) * stride, side, side) for side in sides]
    return np.array(rows, dtype=np.float64)


def faces(rng, prior, name):
    moves = rng.normal(0, 1, (len(prior), 4))
    boxes = np.concatenate([prior[:, :2] + moves[:, :2] * 0.1 * prior[:, 2:],
                            prior[:, 2:] * np.exp(0.2 * moves[:, 2:])], 1)
    scores = few_scores(rng, len(prior))
    outputs = [("boxes", moves[None]), ("scores", np.stack([1 - scores, scores], 1)[None])]
    return Case(outputs, corners(boxes), scores, np.zeros(len(prior), int), keys=name)


def ultraface_priors():
    return priors([[10, 16, 24], [32, 48], [64, 96], [128, 192, 256]], (8, 16, 32, 64))


def ultraface(rng):
    return faces(rng, ultraface_priors(), ", head: ultraface")


def retinaface(rng):
    prior = priors([[16, 32], [64, 128], [256, 512]], (8, 16, 32))
    case = faces(rng, prior, "")
    points = rng.normal(0, 1, (len(prior), 5, 2))
    case.outputs.append(("landmarks", points.reshape(1, len(prior), 10)))
    case.keypoints = prior[:, None, :2] + points * 0.1 * prior[:, None, 2:]
    return case


def scrfd(rng):
    grid = np.repeat(cells(), 2, 0)
    places, stride = grid[:, :2] * grid[:, 2:], grid[:, 2:]
    distances = rng.uniform(0.2, 2, (len(grid), 4))
    points = rng.normal(0, 1, (len(grid), 10))
    scores = few_scores(rng, len(grid))
    outputs = []
    for name, values in (("score", scores[:, None]), ("bbox", distances), ("kps", points)):
        outputs += [(f"{name}_{s}", values[grid[:, 2] == s]) for s in (8, 16, 32)]
    boxes = np.concatenate([places - distances[:, :2] * stride, places + distances[:, 2:] * stride],
                           1)
    keypoints = places[:, None] + points.reshape(-1, 5, 2) * stride[:, None]
    return Case(outputs, boxes, scores, np.zeros(len(grid), int), keypoints=keypoints)


def overlaps(box, others):
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    both = np.prod(np.clip(high - low, 0, None), 1)
    return both / (np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], 1) - both)


def kept_rows(case):
    """Greedy suppression, class by class."""
    rows = [i for i in np.argsort(-case.scores, kind="stable") if case.scores[i] > THRESHOLD]
    kept = []
    for row in rows:
        rivals = [k for k in kept if case.labels[k] == case.labels[row]] if case.suppresses else []
        if not rivals or overlaps(case.boxes[row], case.boxes[rivals]).max() <= OVERLAP:
            kept.append(row)
    return kept


def placement():
    """Left, top, width and height of the picture in the input: it keeps its proportions."""
    width, height = WIDTH, HEIGHT
    if WIDTH * PICTURE[1] < HEIGHT * PICTURE[0]:
        height = (2 * PICTURE[1] * WIDTH + PICTURE[0]) // (2 * PICTURE[0])
    else:
        width = (2 * PICTURE[0] * HEIGHT + PICTURE[1]) // (2 * PICTURE[1])
    return (WIDTH - width) // 2, (HEIGHT - height) // 2, width, height


def in_picture(points):
    """From pixels of the input."""
    left, top, width, height = placement()
    return (points - [left, top]) * [PICTURE[0] / width, PICTURE[1] / height]


def run(case, post, more=""):
    outputs = [(name, array.shape, array.astype("<f4").tobytes()) for name, array in case.outputs]
    model = onnx_writer.model_of_outputs((WIDTH, HEIGHT), outputs, case.metadata)
    open("made.onnx", "wb").write(model)
    pixels = bytes(range(256)) * (PICTURE[0] * PICTURE[1] * 3 // 256 + 1)
    with open("p.ppm", "wb") as file:
        file.write(b"P6 %d %d 255\n" % PICTURE + pixels[:PICTURE[0] * PICTURE[1] * 3])
    open("a.yaml", "w").write(
        "format: 1\nnetwork: {model: made.onnx}\ninput: {images: p.ppm}\n"
        "preprocess: {fit: letterbox}\npostprocess: {%s}\n%s" % (post, more))
    done = subprocess.run(["millrace", "run", "a.yaml", "-o", "out.jsonl"], text=True,
                          capture_output=True)
    if done.returncode:
        raise SystemExit(f"exit {done.returncode}: {done.stderr}")
    return json.loads(open("out.jsonl").read())


def pixels_of(mask):
    flat = np.repeat(np.arange(len(mask["runs"])) % 2, mask["runs"])
    return flat.reshape(mask["height"], mask["width"])


def check_parts(case, row, found):
    if case.keypoints is not None:
        expected = in_picture(case.keypoints[row, :, :2])
        points = np.array([[p["x"], p["y"]] for p in found["keypoints"]])
        assert np.abs(points - expected).max() < 0.1, (points, expected)
    if case.polygons is not None:
        assert np.abs(np.array(found["corners"]) - in_picture(case.polygons[row])).max() < 0.1
    if case.inside is None:
        return
    mask = found["mask"]
    x = (np.arange(mask["width"]) + mask["left"] + 0.5) / PICTURE[0]
    y = (np.arange(mask["height"]) + mask["top"] + 0.5) / PICTURE[1]
    left, top, width, height = placement()
    expected = case.inside(row, left + x * width, top + y * height) > 0
    assert (pixels_of(mask) != expected).mean() < 0.01, "mask"


def cut_box(case, row):
    """Two corners. What of the box lies in the picture; around a turned one, all of it."""
    corners = in_picture(case.boxes[row].reshape(2, 2))
    return corners if case.polygons is not None else np.clip(corners, 0, PICTURE)


def agree(name, case, found, least=4):
    kept = [row for row in kept_rows(case) if np.prod(np.diff(cut_box(case, row), axis=0)) > 0]
    assert len(found) == len(kept) >= least, (name, len(found), len(kept))
    for row, detection in zip(kept, found):
        box = detection["box"]
        here = np.array([[box["left"], box["top"]],
                         [box["left"] + box["width"], box["top"] + box["height"]]])
        expected = cut_box(case, row)
        assert detection["class"] == case.labels[row], (name, row)
        assert abs(detection["probability"] - case.scores[row]) < 1e-4, (name, row)
        assert np.abs(here - expected).max() < 0.1, (name, here, expected)
        check_parts(case, row, detection)
    print(f"{name}: {len(kept)} boxes agree")


def compare(*heads):
    for head in heads:
        case = globals()[head](np.random.default_rng(zlib.crc32(head.encode())))
        agree(head, case, run(case, "kind: detect" + case.keys)["detections"])


def raw_and_found(head, text):
    """The outputs of a trained network, and what the head makes of them."""
    lines = []
    for post in ("raw", f"detect, head: {head}"):
        open("a.yaml", "w").write(text + "postprocess: {kind: %s}\n" % post)
        subprocess.run(["millrace", "run", "a.yaml", "-o", "out.jsonl"], check=True)
        lines.append(json.loads(open("out.jsonl").read()))
    outputs = {name: np.reshape(output["values"], output["shape"])
               for name, output in lines[0]["result"].items()}
    return outputs, lines[1]


def trained(model, head, picture, preprocess):
    global WIDTH, HEIGHT, PICTURE
    outputs, line = raw_and_found(head, "format: 1\nnetwork: {model: %s}\ninput: {images: %s}\n"
                                  "preprocess: {fit: letterbox, %s}\n" % (model, picture,
                                                                         preprocess))
    PICTURE = (line["width"], line["height"])
    if head == "yolox":
        WIDTH = HEIGHT = 416
        grid, rows = cells(), outputs["output"][0]
        centres = (rows[:, :2] + grid[:, :2]) * grid[:, 2:]
        boxes = np.concatenate([centres, np.exp(rows[:, 2:4]) * grid[:, 2:]], 1)
        scores, labels = rows[:, 4] * rows[:, 5:].max(1), rows[:, 5:].argmax(1)
    else:
        WIDTH, HEIGHT = 320, 240
        prior, moves = ultraface_priors(), outputs["boxes"][0]
        boxes = np.concatenate([prior[:, :2] + moves[:, :2] * 0.1 * prior[:, 2:],
                                prior[:, 2:] * np.exp(0.2 * moves[:, 2:])], 1)
        scores = outputs["scores"][0][:, 1]
        labels = np.zeros(len(scores), int)
    agree(head, Case([], corners(boxes), scores, labels), line["detections"], least=1)
    print("classes", sorted({detection["class"] for detection in line["detections"]}))


def segmentation():
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 1, (CLASSES, HEIGHT // 8, WIDTH // 8))
    case = Case([("map", logits[None])], None, None, None, metadata={
        "names": "{0: 'road', 1: 'car', 2: 'sky'}"})
    line = run(case, "kind: segmentation", "output: {maps: maps, images: pictures}\n")
    shares = {segment["label"]: segment["share"] for segment in line["segments"]}
    left, top, width, height = placement()
    x = left + (np.arange(PICTURE[0]) + 0.5) / PICTURE[0] * width
    y = top + (np.arange(PICTURE[1]) + 0.5) / PICTURE[1] * height
    large = []
    for plane in logits:
        wide = np.array([np.interp(x / 8 - 0.5, np.arange(len(row)), row) for row in plane])
        high = [np.interp(y / 8 - 0.5, np.arange(len(column)), column) for column in wide.T]
        large.append(np.array(high).T)
    classes = np.argmax(large, 0)
    for label, name in enumerate(["road", "car", "sky"]):
        assert abs(shares[name] - (classes == label).mean()) < 1e-3, (name, shares)
    print("the map agrees")


def embedding():
    vector = np.random.default_rng(6).normal(0, 1, (1, 16))
    found = run(Case([("vector", vector)], None, None, None), "kind: embedding, normalise: true")
    assert np.abs(found["embedding"] - vector[0] / np.linalg.norm(vector)).max() < 1e-5
    print("the vector agrees")


def text():
    """One step for each symbol of "h e e _ l _ l o", of 4 characters and none."""
    steps = [1, 2, 2, 0, 3, 0, 3, 4]
    logits = np.zeros((len(steps), 5))
    logits[np.arange(len(steps)), steps] = 3
    case = Case([("out", logits[None])], None, None, None)
    found = run(case, "kind: text, alphabet: [h, e, l, o]")["text"]
    assert abs(found["probability"] - np.exp(3) / (np.exp(3) + 4)) < 1e-5, found
    print(found["value"])
