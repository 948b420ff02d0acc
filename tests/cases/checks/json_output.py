"""What the steps of json_output.case look at; see run_check.py."""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path

from json_schema import Schemas

FOLDER = Path(os.environ["SOURCE"]) / "schemas"
MET = Path("met.txt")  # the schemas that something was compared with
# People write these as YAML; tests of the readers compare them with their schemas.
YAML = {"application", "board", "system", "task_system"}


def number(text):
    """A number with a point, which has no digits that mean nothing."""
    digits = re.sub(r"e.*|[.-]", "", text).strip("0")
    if len(digits) > 12:
        sys.exit(f"{text} has {len(digits)} digits")
    return float(text)


def second_opinion(document, name):
    """That of Python's jsonschema, if it is here."""
    if not all(map(importlib.util.find_spec, ("jsonschema", "referencing"))):
        return []
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas = {path.name: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    registry = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    schema = schemas[f"{name}.schema.json"]
    Draft202012Validator.check_schema(schema)
    return list(Draft202012Validator(schema, registry=registry).iter_errors(document))


def is_as_said(document, name):
    found = Schemas(FOLDER).violations(document, name)
    if found or second_opinion(document, name):
        sys.exit("\n".join(found) or "jsonschema finds what the own validator does not")
    with MET.open("a") as met:
        met.write(name + "\n")
    return name


def kind_of(document):
    return document["kind"]


def follows(file, name=None):
    """The file is one document, and as the schema of this name or of its kind says."""
    document = json.loads(Path(file).read_text(), parse_float=number)
    print(is_as_said(document, name or kind_of(document)))


def lines_follow(file, name=None):
    """Each line is a document: as the schema says, or as its kind."""
    lines = Path(file).read_text().splitlines()
    names = []
    for line in lines:
        document = json.loads(line, parse_float=number)
        names.append(is_as_said(document, name or document.get("kind", "")))
    print(len(lines), "lines:", *sorted(set(names)))


def run_follows(file, line):
    """Lines as the schema `line` says, and a last one of its own kind."""
    *lines, last = (
        json.loads(text, parse_float=number) for text in Path(file).read_text().splitlines()
    )
    print(len(lines), *{is_as_said(each, line) for each in lines}, is_as_said(last, kind_of(last)))


def wrong_documents_are_found(file):
    """The validator sees a field that is missing, unknown or of another type."""
    document = json.loads(Path(file).read_text())
    schemas = Schemas(FOLDER)
    schema = schemas.schema(f"{kind_of(document)}.schema.json")
    wrong = [{**document, "nonsense": 1}]
    wrong += [{**document, key: [[document[key]]]} for key in document]
    wrong += [{k: document[k] for k in document if k != key} for key in schema["required"]]
    print(all(schemas.violations(each, kind_of(document)) for each in wrong))


def each_schema_was_met():
    there = {path.name.split(".")[0] for path in FOLDER.glob("*.schema.json")} - YAML
    print(sorted(there ^ set(MET.read_text().split())))


def each_schema_is_documented():
    page = (FOLDER.parent / "docs/library.md").read_text()
    print([path.name for path in sorted(FOLDER.glob("*.json")) if path.name not in page])
