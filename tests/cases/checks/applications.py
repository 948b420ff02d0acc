"""What the steps of applications.case look at; see run_check.py."""

import json

from batches import batch_models  # noqa: F401, which the case calls


def count_right_digits():
    rows = [json.loads(l) for l in open("results.jsonl")]
    print(
        sum((r["classes"][0]["label"] == r["source"][6] for r in rows)),
        "right,",
        len(rows[0]["classes"]),
        "each,",
        [r["frame"] for r in rows] == list(range(12)),
    )


def numbers_of(line):
    if "classes" in line:
        return [each["value"] for each in sorted(line["classes"], key=lambda each: each["class"])]
    return line["outputs"]["sums"]["values"]


def same_results(one, other):
    """Line by line, but for times."""
    pairs = list(zip(*([json.loads(line) for line in open(path)] for path in (one, other))))
    same = all(a["frame"] == b["frame"] and a["source"] == b["source"] and
               max(abs(x - y) for x, y in zip(numbers_of(a), numbers_of(b))) < 1e-4
               for a, b in pairs)
    print(f"{len(pairs)} frames, {'the same' if same else 'different'}")


def by_input(path):
    frames = {}
    for line in open(path):
        line = json.loads(line)
        frames.setdefault(line["input"], []).append(line["frame"])
    for name, numbers in sorted(frames.items()):
        print(name, len(numbers), "in order" if numbers == list(range(len(numbers))) else "not")
