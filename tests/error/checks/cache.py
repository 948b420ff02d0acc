"""What the steps of cache.case look at; see run_check.py."""

import json


def with_too_many_frames():
    d = json.load(open("b.json"))
    l = next((l for l in d["processors"][0]["layers"] if "batches" in l))
    l["batches"][-1]["frames"] = 2**63 - 1
    json.dump(d, open("n.json", "w"))
