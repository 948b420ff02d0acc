"""What the steps of plan.case look at; see run_check.py."""

import json
import sys


def name_of_first_layer():
    print(json.load(sys.stdin)["layers"][0]["name"])


def range_of_first_layers():
    l = json.load(sys.stdin)["layers"]
    print(l[0]["name"] + ":" + l[3]["name"])


def slow_profile():
    d = json.load(
        open("s.profile.json"),
        object_hook=lambda o: {k: 20 * v if k.endswith("_ns") else v for k, v in o.items()},
    )
    json.dump(d, open("slow.profile.json", "w"))


def every_engine_runs_a_layer():
    plan = json.load(open("e.plan.json"))
    engines = plan["stages"][0]["engine"].split(",")
    variants = list(plan.get("variants", {}).values())
    layers = [layer for phase in plan["stages"][0]["phases"] for layer in phase["layers"]]
    of_later = {name: sum(":" + name in variant for variant in variants) for name in engines[1:]}
    assert all(of_later.values()), (engines, variants)
    assert sum(of_later.values()) < len(layers), (engines, variants)


def print_layers(path):
    """The layers of each phase by their numbers from 1, processor by processor."""
    stages = sorted(json.load(open(path))["stages"], key=lambda each: each["processor"]["name"])
    names = [layer for stage in stages for phase in stage["phases"] for layer in phase["layers"]]
    in_order = sorted(names, key=lambda name: int(name.lstrip("abcdefghijklmnopqrstuvwxyz")))
    texts = []
    for stage in stages:
        ranges = []
        for phase in stage["phases"]:
            numbers = [1 + in_order.index(name) for name in phase["layers"]]
            assert numbers == list(range(numbers[0], numbers[-1] + 1)), numbers
            ranges.append("-".join(map(str, dict.fromkeys([numbers[0], numbers[-1]]))))
        texts.append(f"{stage['processor']['name']} {' '.join(ranges)}")
    print("; ".join(texts))
