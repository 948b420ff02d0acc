"""What the steps of jedi.case look at; see run_check.py."""

import json


def print_stages():
    p = json.load(open("yolo3.plan.json"))
    print(
        [
            (s["processor"]["name"], len(s["phases"]), len(s["phases"][0]["layers"]))
            for s in p["stages"]
        ],
        {c["capacity"] for c in p["channels"]},
    )


def print_processors():
    stages = json.load(open("pnd.plan.json"))["stages"]
    print([p["name"] for s in stages for p in s.get("processors", [s.get("processor")])])
