"""What the steps of simulate.case look at; see run_check.py."""

from fractions import Fraction as F
import json
import os
import xml.dom.minidom


def period_is_the_bound():
    s = json.load(open("s.json"))["plans"][0]["steady"]
    a = json.load(open("a.json"))
    print(F(s["span_ns"], s["frames"]) == F(a["throughput"]["period_ns"]))


def simulation_follows_its_schema():
    d = json.load(open("s.json"))
    s = json.load(open(os.environ["SOURCE"] + "/schemas/simulation.schema.json"))
    p = s["properties"]["plans"]["items"]
    print(
        sorted(d) == sorted(s["properties"]),
        sorted(d["plans"][0]) == sorted(p["properties"]),
        sorted(d["plans"][0]["latency"]) == sorted(s["$defs"]["latency"]["oneOf"][1]["properties"]),
    )


def count_in_pictures():
    xml.dom.minidom.parse("g.svg")
    e = json.load(open("t.json"))["traceEvents"]
    print(
        max((x["args"]["frame"] for x in e if x["ph"] == "X")),
        sum((x["ph"] == "b" for x in e)),
        open("g.svg").read().count("<circle"),
    )


def recorded_frames_agree():
    d = json.load(open("s.json"))
    p = d["plans"][0]
    r = p["recorded"]
    print(d["times"], p["frames"] == r["frames"] == 199, r["latency"]["p99_ms"] > 0, p["steady"])


def bound_at_recorded_times():
    e = [
        x
        for x in json.load(open("r.json"))["traceEvents"]
        if x["ph"] == "X" and "frame" in x["args"]
    ]
    c = [[x for x in e if x["tid"] == t] for t in (0, 1)]
    b = [sum((x["dur"] for x in k)) for k in c]
    s = [k[-1]["ts"] + k[-1]["dur"] - k[0]["ts"] for k in c]
    print(
        abs(
            json.load(open("s.json"))["plans"][0]["bound_fps"]
            * max((x / len(k) for x, k in zip(b, c)))
            / 1000000.0
            - 1
        )
        < 0.001,
        all((x <= y + 0.01 for x, y in zip(b, s))),
    )


def simulations_are_equal():
    a, b = (json.load(open(f))["plans"][0] for f in ("a.json", "b.json"))
    print(a["latency"] == b["latency"], a["throughput_fps"] == b["throughput_fps"])
