"""What the steps of simulate.case look at; see run_check.py."""

import json


def without_times():
    d = json.load(open("digits.plan.json"))
    [p.pop(key, None) for s in d["stages"] for p in s["phases"]
     for key in ("predicted_ms", "in_ms", "out_ms")]
    json.dump(d, open("timeless.plan.json", "w"))


def on_other_cores():
    d = json.load(open("digits.plan.json"))
    [s["processor"].update(cores=[c + 40 for c in s["processor"]["cores"]]) for s in d["stages"]]
    json.dump(d, open("elsewhere.plan.json", "w"))


def with_endless_times():
    d = json.load(open("digits.plan.json"))
    [p.update(predicted_ms=1000000000.0) for s in d["stages"] for p in s["phases"]]
    json.dump(d, open("slow.plan.json", "w"))
