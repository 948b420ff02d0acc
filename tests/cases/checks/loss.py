"""What the steps of loss.case look at; see run_check.py."""

import json


def with_tiny_ranges():
    d = json.load(open("t.json"))
    d["ranges"] = {
        k: {"low": v["low"] * 1e-06, "high": v["high"] * 1e-06} for k, v in d["ranges"].items()
    }
    json.dump(d, open("tiny.json", "w"))
