"""What the steps of search.case look at; see run_check.py."""

import json
import re
import sys

from replicas import replicas_in


def print_rates():
    c = json.load(sys.stdin)["candidates"]
    print([round(1000000000.0 / x["bound_ns"]) for x in c if x["name"] != "one processor"])


def at_most_4_phases(search):
    replicas = replicas_in(f"{search}.plan.json")
    print(sum(len(s["phases"]) for p, s in replicas if p["name"] == "core1") <= 4)


def options_of(plan):
    return json.load(open(plan))["origin"]["options"]


def nanoseconds(text):
    number, unit = re.fullmatch(r"([0-9.e+-]+)(s|ms|us)", text).groups()
    return round(float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3}[unit])


def measured_as_the_journal_says(journal, plan):
    facts = dict(word.split("=") for word in open(journal).readline().split() if "=" in word)
    options = options_of(plan)
    same = {name: nanoseconds(options[f"processing_{name}"]) == int(facts[f"{name}_ns"])
            for name in ("pre", "post", "reading")}
    same["frames"] = options["processing_frames"] == facts["processing_frames"]
    print(", ".join(f"{name} {value}" for name, value in same.items()))


def processing_of(plan, *also):
    """As it was given, or 'measured' where it is none of the times that the case gives."""
    options = options_of(plan)
    texts = []
    for name in ("pre", "post"):
        time = options[f"processing_{name}"]
        texts.append(f"{name} {time if time in ('6ms', '2ms') else 'measured'}")
    if also:
        reading, pre = (nanoseconds(options[f"processing_{name}"]) for name in ("reading", "pre"))
        texts.append("reading takes its part" if 20 * reading > pre else "hardly any reading")
    print(", ".join(texts))


def one_after_the_other(told):
    """The rate of the application follows from that of the network alone, and 16 and 4 ms."""
    text = open(told).read()
    alone = float(re.search(r"speed: ([0-9.]+) frames/s", text)[1])
    found = float(re.search(r"post-processing: ([0-9.]+) frames/s predicted", text)[1])
    expected = 1 / (0.016 + 0.004 + 1 / alone)
    assert abs(found - expected) < 1e-3 * expected, (found, expected)
    print("as the sum of the times")
