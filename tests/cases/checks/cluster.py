"""Checks of cluster.case."""

import json


def stages_of(file):
    return json.load(open(file))["stages"]


def longest(file):
    return max(max(s["predicted_ms"]) if isinstance(s["predicted_ms"], list) else s["predicted_ms"]
               for s in stages_of(file))


def names(stage):
    return [p["name"] for p in stage.get("processors", [stage.get("processor")])]


def uses_second(file):
    print(any(name.startswith("second") for stage in stages_of(file) for name in names(stage)))


def two_boards_gain():
    rates = []
    for file in ("pair.plan.json", "one.plan.json"):
        stage = stages_of(file)
        replicas = max(len(names(s)) for s in stage)
        rates.append((replicas if len(stage) == 1 else 1) / longest(file))
    print(rates[0] > 1.3 * rates[1], rates)


def equal_within_rounding():
    """The kernels may be others, as here they are chosen by measuring."""
    def values(file):
        return [json.loads(line)["outputs"]["probabilities"]["values"] for line in open(file)]
    pairs = [(a, b) for one, other in zip(values("real.jsonl"), values("here.jsonl")) for a, b in zip(one, other)]
    print(len(pairs), max(abs(a - b) for a, b in pairs) < 1e-6)


def no_split_is_faster():
    print(longest("auto.plan.json") <= 1.001 * longest("hand.plan.json"), longest("auto.plan.json"), longest("hand.plan.json"))
