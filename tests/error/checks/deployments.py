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
    for group, processors in enumerate((("gpu", "dla0"), ("dla0", "gpu"))):
        document["assignments"][group]["tasks"] = [
            {"name": f"t{t}", "step": "preprocess", "processor": processors[t % 2], "worst_ms": 16,
             "average_ms": 8, "best_ms": 0, "after": [f"t{t - 1}"] if t else []}
            for t in range(6)]
        document["system"]["groups"][group].pop("deadline_ms", None)
        document["system"]["groups"][group]["rate_fps"] = 10
    json.dump(document, open(out, "w"))
