"""What the steps of search.case look at; see run_check.py."""

import json
import sys

from replicas import replicas_in


def print_rates():
    c = json.load(sys.stdin)["candidates"]
    print([round(1000000000.0 / x["bound_ns"]) for x in c if x["name"] != "one processor"])


def at_most_4_phases(search):
    replicas = replicas_in(f"{search}.plan.json")
    print(sum(len(s["phases"]) for p, s in replicas if p["name"] == "core1") <= 4)
