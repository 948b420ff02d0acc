"""What the steps of plans.case look at; see run_check.py."""

import json


def with_core_8000():
    d = json.load(open("digits.plan.json"))
    d["stages"][0]["processor"].update(name="core8000", cores=[8000])
    json.dump(d, open("core8000.plan.json", "w"))


def with_a_misspelt_key():
    d = json.load(open("digits.plan.json"))
    d["stagess"] = 1
    json.dump(d, open("key.plan.json", "w"))


def with_a_core_that_is_missing():
    d = json.load(open("digits.plan.json"))
    d["stages"][0]["processor"].update(name="core8000", cores=[8000])
    json.dump(d, open("lacks.plan.json", "w"))


def with_a_name_that_moves_the_cursor():
    d = json.load(open("number.plan.json"))
    d["stages"][0]["phases"][0]["layers"][0] = "a\x1b[31m\x00b\nc"
    json.dump(d, open("n.plan.json", "w"))


def with_a_number_as_variant():
    d = json.load(open("number.plan.json"))
    d["variants"] = {d["stages"][0]["phases"][0]["layers"][0]: 5}
    json.dump(d, open("n.plan.json", "w"))


def with_a_huge_range():
    d = json.load(open("number.plan.json"))
    d["calibration"] = {"network": "", "ranges": {"t": [-1e308, 1]}}
    json.dump(d, open("n.plan.json", "w"))


def with_a_range_without_zero():
    d = json.load(open("number.plan.json"))
    d["calibration"] = {"network": "", "ranges": {"t": [1, 2]}}
    json.dump(d, open("n.plan.json", "w"))
