#!/usr/bin/env python3
"""Checks tests/networks/deployed.json, the architectures that bench/coverage exports.

  tools/check_deployed.py           the list
  tools/check_deployed.py FILE      another one

There are at least 120, with different names and only known fields. Makers are files of
bench/deployed/makers. Each opset, batch, form and kind of suppression has several variants.
Operators are those of docs/methods/operators.md. Needs none of the packages that export.
Prints one line per finding, and ends with 1 if there is any.
"""
import json
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST_ARCHITECTURES = 120
LEAST_VARIANTS = 10
FIELDS = {"name": str, "package": str, "maker": str, "arguments": dict, "inputs": dict,
          "variants": list, "operators": list}
OPTIONAL = {"ranked": bool}
PACKAGES = {"torchvision", "timm", "ultralytics", "transformers", "written here"}
VARIANT = {"opset": (11, 13, 17, 18, 20, 22, 23, 24), "batch": ("static", "dynamic"),
           "simplified": (False, True), "exporter": ("torchscript", "dynamo"),
           "suppression": (False, True)}
INPUT = {"shape", "values", "below"}


def check_fields(entry):
    for field, kind in FIELDS.items():
        if not isinstance(entry.get(field), kind):
            yield f"'{field}' is missing, or no {kind.__name__}"
    for field in sorted(set(entry) - set(FIELDS) - set(OPTIONAL)):
        yield f"the field '{field}' is not known"


def check_inputs(entry):
    for name, spec in entry["inputs"].items():
        if set(spec) - INPUT or not all(isinstance(size, int) and size > 0
                                        for size in spec.get("shape", [0])):
            yield f"the input '{name}' has no shape, or unknown fields"
        if spec.get("values", "normal") not in ("normal", "uniform", "tokens", "ones"):
            yield f"the values of the input '{name}' are of no known kind"
        if (spec.get("values") == "tokens") != ("below" in spec):
            yield f"tokens, and only they, have a limit: the input '{name}'"


def check_variants(entry):
    if not entry["variants"]:
        yield "there is no variant"
    for variant in entry["variants"]:
        if set(variant) != set(VARIANT):
            yield f"a variant has the fields {sorted(variant)}, expected {sorted(VARIANT)}"
        for field, values in VARIANT.items():
            if variant.get(field) not in values:
                yield f"'{field}' of a variant is none of {', '.join(map(str, values))}"


def check_operators(entry, known):
    if not entry["operators"]:
        yield "no operators are listed; bench/coverage --note-operators does it"
    for operator in entry["operators"]:
        if operator not in known:
            yield f"the operator '{operator}' is not in docs/methods/operators.md"


def check_entry(entry, known, makers):
    wrong = list(check_fields(entry))
    if wrong:
        return wrong
    if entry["package"] not in PACKAGES:
        wrong.append(f"the package is '{entry['package']}'")
    if entry["maker"] not in makers:
        wrong.append(f"there is no bench/deployed/makers/{entry['maker']}.py")
    return [*wrong, *check_inputs(entry), *check_variants(entry), *check_operators(entry, known)]


def check_spread(entries):
    """Every value of every field is tried often, and no name is there twice."""
    if len(entries) < LEAST_ARCHITECTURES:
        yield f"there are {len(entries)} architectures, expected {LEAST_ARCHITECTURES}"
    for name, count in Counter(entry.get("name") for entry in entries).items():
        if count > 1:
            yield f"the name '{name}' is there {count} times"
    for field, values in VARIANT.items():
        counts = Counter(variant.get(field) for entry in entries
                         for variant in entry.get("variants", []))
        for value in values:
            if counts[value] < LEAST_VARIANTS:
                yield f"'{field}' is {value} in {counts[value]} variants"


def known_operators():
    text = (ROOT / "docs/methods/operators.md").read_text("utf-8").partition("## Darknet")[0]
    return set(re.findall(r"^\| `([\w.]+)` \|", text, re.M))


def findings(text):
    try:
        entries = json.loads(text)["architectures"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        return [f"is no list of architectures: {error}"]
    makers = {path.stem for path in (ROOT / "bench/deployed/makers").glob("*.py")}
    known = known_operators()
    lines = list(check_spread(entries))
    for entry in entries:
        lines += [f"{entry.get('name')}: {line}" for line in check_entry(entry, known, makers)]
    return lines


def main(arguments):
    path = Path(arguments[0]) if arguments else ROOT / "tests/networks/deployed.json"
    lines = findings(path.read_text("utf-8"))
    for line in lines:
        print(f"{path}: {line}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
