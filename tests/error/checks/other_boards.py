"""What the steps of other_boards.case look at; see run_check.py."""

import json


def without_times():
    p = json.load(open("tx2.plan.json"))
    p["stages"][0]["phases"][0].pop("predicted_ms")
    json.dump(p, open("timeless.plan.json", "w"))


def with_an_endless_time():
    p = json.load(open("tx2.plan.json"))
    p["stages"][0]["phases"][0]["predicted_ms"] = 1000000000.0
    json.dump(p, open("endless.plan.json", "w"))
