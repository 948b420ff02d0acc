"""What the steps of run.case look at; see run_check.py."""

import json


def count_right_digits():
    rows = [json.loads(l) for l in open("results.jsonl")]
    print(
        sum(
            (
                max(range(10), key=r["outputs"]["probabilities"]["values"].__getitem__)
                == int(r["source"][6])
                for r in rows
            )
        ),
        "right",
    )
