"""What the steps of cascade.case look at, and the two programs by hand; see run_check.py."""

import json
import math
import struct
import zlib
from pathlib import Path

from onnx_writer import graph_of, model_of, node, tensor, value

FIELD, SIDE = 16, 128  # pixels of a field of the sheet, and of the sheet


def read_png(path, most=None):
    """Width, height, bytes of a pixel, and the rows, or the first so many: 8 bits, not interlaced."""
    data = Path(path).read_bytes()
    at, chunks = 8, {}
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        chunks.setdefault(data[at + 4:at + 8], []).append(data[at + 8:at + 8 + size])
        at += size + 12
    width, height, depth, colour, _, _, interlaced = struct.unpack(">2I5B", chunks[b"IHDR"][0])
    assert depth == 8 and interlaced == 0, path
    pixel = {0: 1, 2: 3}[colour]
    raw = zlib.decompress(b"".join(chunks[b"IDAT"]))
    rows, before, step = [], bytes(width * pixel), width * pixel + 1
    for y in range(min(height, most or height)):
        before = unfiltered(raw[y * step], raw[y * step + 1:(y + 1) * step], before, pixel)
        rows.append(before)
    return width, height, pixel, rows


def unfiltered(kind, row, above, pixel):
    """RFC 2083, chapter 6."""
    if kind == 0:
        return bytes(row)
    guess = (lambda a, b, c: a, lambda a, b, c: b, lambda a, b, c: (a + b) // 2, paeth)[kind - 1]
    out, corners = bytearray(pixel) + row, bytes(pixel) + above  # beside the first pixel are zeros
    for i in range(pixel, len(out)):
        out[i] = out[i] + guess(out[i - pixel], corners[i], corners[i - pixel]) & 255
    return bytes(out[pixel:])


def paeth(a, b, c):
    to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return a if to_a <= to_b and to_a <= to_c else b if to_b <= to_c else c


def write_png(path, rows):
    """Grey."""
    def chunk(kind, content):
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
    header = struct.pack(">2I5B", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    raw = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", raw) +
                           chunk(b"IEND", b""))


def make_finder(path):
    """A network that finds the fields of a sheet with ink in their middle: a head of CenterNet."""
    cells = SIDE // FIELD

    def numbers(values):
        return struct.pack(f"<{len(values)}f", *values)
    middle = range(FIELD // 4, 3 * FIELD // 4)
    ink = [8 / 64 if y in middle and x in middle else 0 for y in range(FIELD) for x in range(FIELD)]
    constants = [tensor("ink", [1, 1, FIELD, FIELD], numbers(ink)),
                 tensor("none", [2, 1, 1, 1], numbers([0, 0])),
                 tensor("half", [2], numbers([0.5, 0.5]))]
    nodes = [node("Conv", ["sheet", "ink"], ["much"], strides=[FIELD, FIELD]),
             node("Tanh", ["much"], ["found"]),
             node("Conv", ["found", "none", "half"], ["sizes"]),
             node("Conv", ["found", "none", "half"], ["offsets"])]
    outputs = [value("found", [1, 1, cells, cells])]
    outputs += [value(name, [1, 2, cells, cells]) for name in ("sizes", "offsets")]
    graph = graph_of(nodes, [value("sheet", [1, 1, SIDE, SIDE])], outputs, constants)
    Path(path).write_bytes(model_of(graph))


def make_sheet(folder, path):
    """The digits of the folder, in the order of their names, in the middle of every second field."""
    sheet = [bytearray(SIDE) for _ in range(SIDE)]
    for i, file in enumerate(sorted(Path(folder).glob("*.png"))):
        width, height, _, rows = read_png(file)
        left, top = i % 4 * 2 * FIELD + FIELD // 4, i // 4 * 2 * FIELD + FIELD // 4
        for y in range(height):
            sheet[top + y][left:left + width] = rows[y]
    write_png(path, sheet)


def second_plan(plan, path):
    """The plan of the crops' network as a file of its own."""
    Path(path).write_text(json.dumps(json.loads(Path(plan).read_text())["crops"]))


def lines_of(path):
    return [json.loads(line) for line in open(path)]


def same_digits(sheet, alone):
    """What was read on the sheet beside what the digits alone give, to the last digit."""
    boxes = sorted(lines_of(sheet)[0]["detections"],
                   key=lambda each: (each["crop"]["top"], each["crop"]["left"]))
    one_by_one = lines_of(alone)
    same = [a["crop"]["classes"] == b["classes"] for a, b in zip(boxes, one_by_one)]
    right = [a["crop"]["classes"][0]["label"] == b["source"][6] for a, b in zip(boxes, one_by_one)]
    print(f"{len(boxes)} boxes, {sum(same)} the same, {sum(right)} right")


def takes_all(few, many):
    """The step after the network is measured with all crops that a frame may have."""
    def best(file):
        tasks = json.load(open(file))["assignments"][0]["tasks"]
        return next(each["best_ms"] for each in tasks if each["step"] == "postprocess")
    print("a frame without a crop is taken to have all" if best(many) > 10 * best(few) else
          f"{best(few)} and {best(many)} ms")


def pixels_of(begin, length, margin, size):
    first = min(max(math.floor(begin - margin * length), 0), size)
    end = min(max(math.ceil(begin + length + margin * length), 0), size)
    return first, end - first


def boxes_by_hand(line, classes, most, margin):
    """The boxes that get a crop, and where it lies."""
    chosen = []
    for number, each in enumerate(line["detections"]):
        if (classes == "all" or each["label"] in classes.split(",")) and len(chosen) < most:
            box = each["box"]
            left, width = pixels_of(box["left"], box["width"], margin, line["width"])
            top, height = pixels_of(box["top"], box["height"], margin, line["height"])
            chosen.append((number, {"left": left, "top": top, "width": width, "height": height}))
    return chosen


def crop_by_hand(boxes, frames, to, classes, most, margin):
    """The program between the two: cuts the frames (NNNNNN.png) at the boxes of the detector."""
    Path(to).mkdir()
    for line in lines_of(boxes):
        width, height, pixel, rows = read_png(Path(frames) / f"{line['frame']:06}.png")
        assert (width, height, pixel) == (line["width"], line["height"], 3)
        for number, at in boxes_by_hand(line, classes, int(most), float(margin)):
            begin, end = 3 * at["left"], 3 * (at["left"] + at["width"])
            content = b"".join(rows[y][begin:end] for y in range(at["top"], at["top"] + at["height"]))
            Path(to, f"{line['frame']:06}_{number:03}.ppm").write_bytes(
                b"P6 %d %d 255\n" % (at["width"], at["height"]) + content)


def as_by_hand(cascade, boxes, crops, classes, most, margin, tolerance="0"):
    """The cascade beside the two programs: boxes equal, crops equal, values within a tolerance."""
    by_hand = {line["source"]: line for line in lines_of(crops)}
    pairs = list(zip(lines_of(cascade), lines_of(boxes), strict=True))
    count, largest, bound = 0, 0.0, 0
    for ours, theirs in pairs:
        chosen = dict(boxes_by_hand(theirs, classes, int(most), float(margin)))
        assert len(ours["detections"]) == len(theirs["detections"]), ours["frame"]
        for number, (a, b) in enumerate(zip(ours["detections"], theirs["detections"])):
            crop = a.pop("crop", None)
            assert a == b, (ours["frame"], a, b)
            assert (crop is None) == (number not in chosen), (ours["frame"], number)
            if crop is None:
                continue
            line = by_hand[f"{ours['frame']:06}_{number:03}.ppm"]
            assert {key: crop[key] for key in chosen[number]} == chosen[number], crop
            largest = max(largest, difference(crop, line))
            count += 1
        bound += len(chosen) == int(most)
    assert count == len(by_hand) and largest <= float(tolerance), (count, len(by_hand), largest)
    print(f"{len(pairs)} frames, {count} crops as by hand, {bound} frames at the bound")
    if largest > 0:
        print(f"the largest difference is {largest:.1e}")


def difference(crop, line):
    """By the largest value: of all outputs, or of classes."""
    if "result" in line:
        pairs = [(x, y) for name in line["result"]
                 for x, y in zip(crop["result"][name]["values"], line["result"][name]["values"])]
    else:
        assert [each["class"] for each in crop["classes"]] == \
            [each["class"] for each in line["classes"]]
        pairs = [(x["value"], y["value"]) for x, y in zip(crop["classes"], line["classes"])]
    return max(abs(x - y) for x, y in pairs) / max(abs(y) for _, y in pairs)


def counted(path):
    """The last line of `run --json`, beside the lines before it."""
    *lines, total = lines_of(path)
    crops = sum("crop" in each for line in lines for each in line["detections"])
    too_many = sum(line.get("not_cropped", 0) for line in lines)
    print(total["crops"]["count"] == crops, total["crops"]["too_many"] == too_many,
          total["crops"]["most"], total["per_frame"]["crops_ms"] > 0)


def digits_alone(path):
    """Of each frame the most probable class."""
    values = [next(iter(line["outputs"].values()))["values"] for line in lines_of(path)]
    return [each.index(max(each)) for each in values]


def read_as_alone(alone, sheets, pairs, run):
    """Frame n of the sheets has n % 13 digits from 5 n on, a frame of the pairs has its number."""
    expected = digits_alone(alone)
    lines = [line.split(":") for line in open(sheets)]
    for n, (number, found) in enumerate(lines):
        wanted = [expected[(5 * n + i) % len(expected)] for i in range(n % 13)]
        assert int(number) == n and [int(each) for each in found.split()] == wanted, (n, found)
    others = [line.split(":") for line in open(pairs)]
    for n, (number, found) in enumerate(others):
        assert int(number) == n and int(found) == expected[n % len(expected)], (n, found)
    assert len(lines) >= 13 and len(others) >= 13, (len(lines), len(others))
    print(len(lines), "sheets,", len(others), "pairs")
    for group in json.load(open(run))["groups"]:
        print(group)
