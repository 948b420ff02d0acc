"""What the steps of jedi.case look at; see run_check.py."""

import json

from replicas import replicas_in


def processors_of(stage):
    return "+".join(p["name"] for p in stage.get("processors", [stage.get("processor")]))


def print_stages():
    p = json.load(open("yolo3.plan.json"))
    print(
        [
            (processors_of(s), len(s["phases"]), len(s["phases"][0]["layers"]))
            for s in p["stages"]
        ],
        {c["capacity"] for c in p["channels"]},
    )


def print_processors():
    print([p["name"] for p, _ in replicas_in("pnd.plan.json")])


def same_stages(one, other):
    def stages(path):
        plan = json.load(open(path))
        return [(processors_of(stage), [phase["layers"] for phase in stage["phases"]])
                for stage in plan["stages"]]
    print("the same stages" if stages(one) == stages(other) else (stages(one), stages(other)))
