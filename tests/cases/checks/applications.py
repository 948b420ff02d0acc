"""What the steps of applications.case look at; see run_check.py."""

import json


def count_right_digits():
    rows = [json.loads(l) for l in open("results.jsonl")]
    print(
        sum((r["classes"][0]["label"] == r["source"][6] for r in rows)),
        "right,",
        len(rows[0]["classes"]),
        "each,",
        [r["frame"] for r in rows] == list(range(12)),
    )
