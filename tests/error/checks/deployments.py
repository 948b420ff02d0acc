"""What the steps of deployments.case look at; see run_check.py."""

import json


def changed(out, *changes):
    """d.json as OUT, with each of the changes PATH=JSON, a path such as system.groups.0.name."""
    document = json.load(open("d.json"))
    for change in changes:
        path, value = change.split("=", 1)
        *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place = document
        for key in way:
            place = place[key]
        place[last] = json.loads(value)
    json.dump(document, open(out, "w"))


def to_and_fro(out):
    """The groups go over two devices three times, in opposite directions, and need almost all of them."""
    document = json.load(open("d.json"))
    system, names = document["system"], [f"t{t}" for t in range(6)]
    for group, processors in enumerate((("gpu", "dla0"), ("dla0", "gpu"))):
        on = [processors[t % 2] for t in range(6)]
        document["assignments"][group] = {
            "group": system["groups"][group]["name"], "priority": 2 - group,
            "tasks": [{"name": name, "step": "task", "task": name, "firing": 0, "processor": on[t], "worst_ms": 16,
                       "average_ms": 8, "best_ms": 0, "after": names[max(t - 1, 0):t]}
                      for t, name in enumerate(names)]}
        system["groups"][group] = {
            "name": system["groups"][group]["name"], "rate_fps": 10,
            "tasks": [{"name": name, "on": {on[t]: 16}} for t, name in enumerate(names)],
            "edges": [{"from": a, "to": b} for a, b in zip(names, names[1:])]}
    json.dump(document, open(out, "w"))
