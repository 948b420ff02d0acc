"""What the steps of variants.case look at; see run_check.py."""

import json
import sys


def count_alternatives():
    p = json.load(open("digits.profile.json"))["processors"][0]
    a = [x for l in p["layers"] for x in l.get("alternatives", [])]
    print(len(a), max((x.get("error", 0) for x in a)) < 0.01, p["max_error"])


def name_of_first_convolution():
    print(next((l["name"] for l in json.load(sys.stdin)["layers"] if l["operator"] == "Conv")))


def with_another_variant():
    d = json.load(open("digits.plan.json"))
    l = json.load(open("digits.profile.json"))["processors"][0]["layers"]
    c = next((x for x in l if len(x.get("alternatives", [])) > 1))
    d["variants"] = {c["layer"]: c["alternatives"][-1]["variant"]}
    json.dump(d, open("edited.plan.json", "w"))
