"""Compares the detections of one picture with those that the original Darknet printed.

  detections.py RESULTS.jsonl NAME.txt

Prints how many there are; ends with 1 unless classes and number are equal and boxes within 1 % of
the picture.
"""
import json
import sys


def found(path):
    with open(path) as lines:
        row = json.loads(lines.readline())
    width, height = row["width"], row["height"]
    result = []
    for one in row["detections"]:
        box = one["box"]
        centre = [(box["left"] + box["width"] / 2) / width, (box["top"] + box["height"] / 2) / height]
        result.append((one["class"], centre + [box["width"] / width, box["height"] / height]))
    return sorted(result)


def printed(path):
    with open(path) as lines:
        words = [line.split() for line in lines if line.startswith("DET ")]
    return sorted((int(w[2]), [float(w[i]) for i in (6, 8, 10, 12)]) for w in words)


def main():
    ours, theirs = found(sys.argv[1]), printed(sys.argv[2])
    same = [one[0] for one in ours] == [one[0] for one in theirs]
    far = max((abs(a - b) for x, y in zip(ours, theirs) for a, b in zip(x[1], y[1])), default=0)
    print(f"{len(ours)} found, {len(theirs)} printed, boxes within {100 * far:.2f} %")
    sys.exit(0 if same and len(theirs) > 0 and far < 0.01 else 1)


main()
