"""What the steps of variants.case look at; see run_check.py."""

import json


def with_f16():
    p = json.load(open("half.json"))
    p["variants"] = {p["stages"][0]["phases"][0]["layers"][0]: "f16"}
    json.dump(p, open("half.json", "w"))


def with_an_unknown_algorithm():
    d = json.load(open("good.plan.json"))
    n = d["stages"][0]["phases"][0]["layers"][0]
    d["variants"] = {n: "f32:magic"}
    json.dump(d, open("magic.plan.json", "w"))


def with_int8():
    d = json.load(open("good.plan.json"))
    n = d["stages"][0]["phases"][0]["layers"][0]
    d["variants"] = {n: "int8"}
    json.dump(d, open("int8.plan.json", "w"))
