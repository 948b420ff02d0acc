"""What the steps of calibrate.case look at; see run_check.py."""

import json


def ranges_contain_zero():
    d = json.load(open("digits.calibration.json"))
    r = d["ranges"]
    print(
        d["frames"],
        d["kind"],
        all((v["low"] <= 0 <= v["high"] for v in r.values())),
        {k: round(v, 5) for k, v in r["image"].items()},
    )


def ranges_are_near():
    a, b = (json.load(open(f))["ranges"] for f in ("r.json", "o.json"))
    print(
        a.keys() == b.keys(),
        all(
            (
                abs(a[k][s] - b[k][s]) < 0.0001 * max(1, abs(a[k][s]))
                for k in a
                for s in ("low", "high")
            )
        ),
    )
