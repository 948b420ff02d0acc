"""Checks of transfers.case."""

import json


def rate(file):
    return json.load(open(file))["plans"][0]["throughput_fps"]


def stages_of(file):
    return json.load(open(file))["stages"]


def longest(file):
    return max(stage["predicted_ms"] for stage in stages_of(file))


def copy_engines_gain():
    print(longest("overlap.plan.json") < 0.95 * longest("slow.plan.json"),
          longest("overlap.plan.json"), longest("slow.plan.json"))


def bench_is_within_5_percent():
    plan = json.load(open("b.json"))["rows"][-1]["throughput_fps"]
    print(0.95 < plan / rate("s.json") < 1.05, plan / rate("s.json"))


def copies_run_beside_the_work():
    """Each lane is busy while others are: together longer than the whole."""
    events = [e for e in json.load(open("t.json"))["traceEvents"] if e.get("ph") == "X"]
    lanes = {}
    names = {e["tid"]: e["args"]["name"] for e in json.load(open("t.json"))["traceEvents"]
             if e.get("name") == "thread_name"}
    for e in events:
        lanes.setdefault(names.get(e["tid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    copies = [each for name, spans in lanes.items() if "gpu.in" in str(name) for each in spans]
    work = [each for name, spans in lanes.items() if str(name).endswith("gpu") for each in spans]
    overlap = sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in copies for b in work)
    print(overlap > 0.5 * min(sum(b - a for a, b in copies), sum(b - a for a, b in work)),
          sorted(map(str, lanes)))
