"""What the steps of other_boards.case look at; see run_check.py."""

import json

from replicas import replicas_in


def prediction_is_simulated():
    p = json.load(open("p.json"))
    c = [c for c in p["candidates"] if c["name"] == p["chosen"]][0]
    s = json.load(open("s.json"))["plans"][0]["steady"]
    print(c["bound_ns"] * s["frames"] == s["span_ns"], c["period_ns"])


def print_processors():
    p = json.load(open("gpu.plan.json"))
    print([r["name"] for r, _ in replicas_in("gpu.plan.json")], p["origin"]["options"]["board"])


def at_most_4_subnets():
    print(sum(len(s["phases"]) for r, s in replicas_in("x.plan.json") if r["kind"] == "npu") <= 4)


def count_right_digits():
    rows = [json.loads(l) for l in open("results.jsonl")]
    print(
        sum(
            (
                max(range(10), key=r["outputs"]["probabilities"]["values"].__getitem__)
                == int(r["source"][6])
                for r in rows
            )
        ),
        "right",
    )


def bench_is_as_fast_as_simulated():
    b = json.load(open("b.json"))
    s = json.load(open("s.json"))["plans"][0]["throughput_fps"]
    plan = b["rows"][-1]["throughput_fps"]
    print(0.75 < plan / s < 1.03, plan / s, b["roofline"], [r["name"] for r in b["rows"]])


def count_events():
    e = json.load(open("trace.json"))["traceEvents"]
    print([sum((x["ph"] == p and x.get("cat") != "waiting" for x in e)) for p in "Xbe"])


def count_frames_of_events():
    e = json.load(open("trace.json"))["traceEvents"]
    print(
        sum((x["ph"] == "b" for x in e)),
        len({x["args"]["frame"] for x in e if x["ph"] == "X" and "frame" in x["args"]}) >= 5,
    )


def print_phases():
    p = json.load(open("nf.plan.json"))
    print([len(s["phases"]) for s in p["stages"]], p["origin"]["options"]["fallback"])


def energies_add_up():
    """At the highest rate: 4 W of all else for the time of a frame."""
    analysis = json.load(open("a.json"))
    energies = {each["device"]: each for each in analysis["energy_per_frame"]}
    rest = 4000 / analysis["throughput"]["bound_fps"]
    print(abs(energies["all else"]["energy_mj"] - rest) < 1e-3 * rest and
          all(abs(each["always_mj"] + each["working_mj"] - each["energy_mj"]) < 1e-3
              for each in energies.values()))
