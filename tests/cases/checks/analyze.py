"""What the steps of analyze.case look at; see run_check.py."""

import json
import os
import sys

from replicas import replicas_in


def with_core_8000():
    d = json.load(sys.stdin)
    d["stages"][0]["processor"]["cores"] = [8000]
    json.dump(d, sys.stdout)


def analysis_follows_its_schema():
    d = json.load(open("a.json"))
    s = json.load(open(os.environ["SOURCE"] + "/schemas/analysis.schema.json"))
    print(
        sorted(d) == sorted(s["required"]),
        sorted(d) == sorted(s["properties"]),
        d["live"],
        d["throughput"]["bound_fps"] > 0,
        d["buffers"]["smallest_bytes"] < d["buffers"]["bytes"],
        d["measured"][0]["when"],
    )


def measurement_follows_its_schema():
    m = json.load(open("m.json"))["measured"][-1]
    replicas = list(replicas_in("digits.plan.json"))
    s = json.load(open(os.environ["SOURCE"] + "/schemas/analysis.schema.json"))["properties"][
        "measured"
    ]["items"]["properties"]
    print(
        sorted(m) == sorted(s),
        len(m["busy_to_phases"]) == len(replicas),
        [len(p) for p in m["phases_ms"]] == [len(stage["phases"]) for _, stage in replicas],
        sorted(m["share_of_that_bound"]) == sorted(s["share_of_that_bound"]["properties"]),
    )


def with_one_slot():
    plan = json.load(open("pi.plan.json"))
    for stage in plan["stages"]:
        for phase in stage["phases"]:
            phase["offset"] = 0
    for channel in plan["channels"]:
        channel["capacity"] = 1
    json.dump(plan, open("turns.plan.json", "w"))


def one_slot_is_slower():
    one, two = json.load(sys.stdin), json.load(open("pi.json"))
    print(
        [len(found["critical_cycle"]) for found in (two, one)],
        one["throughput"]["bound_fps"] < 0.9 * two["throughput"]["bound_fps"],
    )


def without_times():
    d = json.load(open("digits.plan.json"))
    [p.pop(key, None) for s in d["stages"] for p in s["phases"]
     for key in ("predicted_ms", "in_ms", "out_ms")]
    json.dump(d, open("timeless.plan.json", "w"))


def with_no_slot():
    d = json.load(open("digits.plan.json"))
    d["channels"][0]["capacity"] = 0
    json.dump(d, open("none.plan.json", "w"))


def same_throughput():
    print(
        json.load(open("a.json"))["throughput"]["period_ns"]
        == json.load(open("d.json"))["period_time"]
    )


def recorded_throughputs_agree():
    (m,) = json.load(open("r.json"))["measured"]
    p = json.load(open("s.json"))["plans"][0]
    print(
        m["when"],
        abs(m["throughput_fps"] / p["recorded"]["throughput_fps"] - 1) < 0.001,
        abs(m["throughput_fps"] / m["share_of_bound"] / p["bound_fps"] - 1) < 0.001,
    )
