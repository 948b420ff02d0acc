"""JSON Schema, as far as the schemas of this project use it; other words are refused."""

import json
import re
from pathlib import Path

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
    "null": type(None),
}
TEXTS = {"$schema", "$defs", "title", "description", "properties"}


def is_a(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def is_type(value, names):
    return any(is_a(value, name) for name in ([names] if isinstance(names, str) else names))


def size(kind):
    return lambda value: len(value) if isinstance(value, kind) else None


def number(value):
    return value if is_a(value, "number") else None


# Words that limit one number of a value: what it is of (None: the word is not for such a value).
LIMITS = {
    "minimum": (number, lambda found, rule: found >= rule),
    "maximum": (number, lambda found, rule: found <= rule),
    "exclusiveMinimum": (number, lambda found, rule: found > rule),
    "minItems": (size(list), lambda found, rule: found >= rule),
    "maxItems": (size(list), lambda found, rule: found <= rule),
    "minLength": (size(str), lambda found, rule: found >= rule),
    "maxLength": (size(str), lambda found, rule: found <= rule),
    "minProperties": (size(dict), lambda found, rule: found >= rule),
}


class Schemas:
    """Those of a folder, which refer to each other by their files' names."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.read = {}

    def schema(self, file):
        if file not in self.read:
            self.read[file] = json.loads((self.folder / file).read_text())
        return self.read[file]

    def violations(self, value, name):
        """What in the value is not as NAME.schema.json says, each with its place."""
        file = f"{name}.schema.json"
        return list(self.check(value, self.schema(file), file, name))

    def referred(self, reference, file):
        target, _, path = reference.partition("#")
        file = target or file
        schema = self.schema(file)
        for step in filter(None, path.split("/")):
            schema = schema[step]
        return schema, file

    def check(self, value, schema, file, place):
        for word, rule in schema.items():
            yield from self.check_word(value, (word, rule), file, place)
        if isinstance(value, dict):
            yield from self.check_members(value, schema, file, place)

    def check_word(self, value, rule_of, file, place):
        word, rule = rule_of
        if word == "$ref":
            yield from self.check(value, *self.referred(rule, file), place)
        elif word == "items":
            for i, item in enumerate(value if isinstance(value, list) else []):
                yield from self.check(item, rule, file, f"{place}[{i}]")
        elif word == "oneOf":
            found = [list(self.check(value, each, file, place)) for each in rule]
            if sum(not each for each in found) != 1:
                nearest = min(found, key=len) or ["several of oneOf"]
                yield from nearest
        elif word == "not":
            if not list(self.check(value, rule, file, place)):
                yield f"{place}: is what it must not be: {rule}"
        elif word == "required":
            missing = [key for key in rule if isinstance(value, dict) and key not in value]
            yield from (f"{place}: {key} is missing" for key in missing)
        elif word == "dependentRequired":
            for key, others in rule.items():
                missing = [other for other in others if key in value and other not in value]
                yield from (f"{place}: {other} is missing beside {key}" for other in missing)
        elif not self.holds(value, word, rule):
            yield f"{place}: found {str(value)[:80]}, expected {word} {rule}"

    @staticmethod
    def holds(value, word, rule):
        if word in LIMITS:
            measure, within = LIMITS[word]
            return measure(value) is None or within(measure(value), rule)
        if word == "type":
            return is_type(value, rule)
        if word == "const":
            return value == rule
        if word == "enum":
            return value in rule
        if word == "pattern":
            return not isinstance(value, str) or re.search(rule, value) is not None
        if word == "uniqueItems":
            return not isinstance(value, list) or len(set(map(str, value))) == len(value)
        if word in TEXTS or word == "additionalProperties":
            return True
        raise ValueError(f"'{word}' is no word that this validator knows")

    def check_members(self, value, schema, file, place):
        rest = schema.get("additionalProperties", True)
        known = schema.get("properties", {})
        for key, item in value.items():
            if key in known:
                yield from self.check(item, known[key], file, f"{place}.{key}")
            elif rest is False:
                yield f"{place}: unknown {key}"
            elif rest is not True:
                yield from self.check(item, rest, file, f"{place}.{key}")
