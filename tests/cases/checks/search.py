"""What the steps of search.case look at; see run_check.py."""

import json
import sys


def print_rates():
    c = json.load(sys.stdin)["candidates"]
    print([round(1000000000.0 / x["bound_ns"]) for x in c if x["name"] != "one processor"])


def at_most_4_phases(search):
    stages = json.load(open(f"{search}.plan.json"))["stages"]
    print(sum(len(s["phases"]) for s in stages if s["processor"]["name"] == "core1") <= 4)
