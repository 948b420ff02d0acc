"""Checks of cluster.case."""

import json
import re


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


def use_variants_of_the_cores(real, here):
    """Of what is chosen by measuring, the second plan takes what the first one has; a board's own are the usual ones."""
    variants = json.load(open(real)).get("variants", {})
    plan = json.load(open(here))
    plan["variants"] = {layer: variant.replace("onednn/", "") for layer, variant in variants.items() if "cluster" not in variant}
    json.dump(plan, open(here, "w"))


def same_values():
    def values(file):
        return [json.loads(line)["outputs"]["probabilities"]["values"] for line in open(file)]
    real = values("real.jsonl")
    print(sum(len(each) for each in real), real == values("here.jsonl"))


def no_split_is_faster():
    print(longest("auto.plan.json") <= 1.001 * longest("hand.plan.json"), longest("auto.plan.json"), longest("hand.plan.json"))


def energy_by_hand(source, link_nj):
    """By the numbers of the board's file, the plan's times, and the sizes of the two tensors that cross."""
    text = open(f"{source}/boards/raspberry-pi-5.yaml").read()
    idle = float(re.search(r"^idle_power_mw: (\S+)", text, re.M)[1])
    still, busy = map(float, re.findall(r"static_mw: (\S+), dynamic_mw: (\S+?),", text)[-1])
    working = {names(stage)[0]: stage["predicted_ms"] for stage in stages_of("cut.plan.json")}
    analysis = json.load(open("energy.json"))
    interval_s = 1 / analysis["throughput"]["bound_fps"]
    link = (4 * 32 * 8 * 8 + 4 * 10) * float(link_nj) * 1e-6  # relu2's output, and ten probabilities
    expected = {"here": (4 * still + idle) * interval_s + busy * working["core0"] / 1000,
                "second": (4 * still + idle) * interval_s + busy * working["second.core0"] / 1000 + link}
    found = dict.fromkeys(expected, 0)
    for row in analysis["energy_per_frame"]:
        found[row["board"]] += row["energy_mj"]
    print(all(abs(found[board] / expected[board] - 1) < 1e-4 for board in expected), found, expected)


def largest(file):
    energy = {}
    for row in json.load(open(file))["energy_per_frame"]:
        energy[row["board"]] = energy.get(row["board"], 0) + row["energy_mj"]
    return max(energy.values())


def largest_board(file, factor):
    print(largest(file) * float(factor))


def energy_is_limited():
    least, limited, fast = map(largest, ("least.json", "limited.json", "fast.json"))
    print(least < 0.999 * fast and limited <= 1.01 * least, least, limited, fast)
