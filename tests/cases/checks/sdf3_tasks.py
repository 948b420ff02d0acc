"""What the steps of sdf3_tasks.case look at; see run_check.py."""

import json
import xml.etree.ElementTree as ElementTree
from math import gcd
from pathlib import Path

from json_output import follows  # noqa: F401

ACTORS = {"i": "count", "Clean": "pass", "Box": "pass", "o": "write"}


def system_of_eggs(out, plugin):
    lines = ["format: 1", "name: s", "groups:", "  - name: g", "    period_ms: 100", "    graph: graph.xml",
             "    processors: {p: cpu}", "    code:"]
    lines += [f"      {actor}: {{plugin: {plugin}, function: {function}}}" for actor, function in ACTORS.items()]
    Path(out).write_text("\n".join(lines) + "\n")


def is_valid_system(file):
    """The keys that this case uses are those of the schema."""
    import os
    schema = json.loads((Path(os.environ["SOURCE"]) / "schemas/system.schema.json").read_text())
    known = schema["properties"]["groups"]["items"]["properties"]
    used = [line.strip().split(":")[0] for line in open(file) if line.startswith("    ") and line[4] != " "]
    print(set(used) <= set(known) and "code" in used)


def chain_in(graph):
    """Rates (produced, consumed) of the channels from each actor to the next."""
    root = ElementTree.parse(graph).getroot()
    rates = {(actor.get("name"), port.get("name")): int(port.get("rate"))
             for actor in root.iter("actor") for port in actor.iter("port")}
    return [(rates[c.get("srcActor"), c.get("srcPort")], rates[c.get("dstActor"), c.get("dstPort")])
            for c in root.iter("channel") if c.get("srcActor") != c.get("dstActor")]


def tokens_at_the_end(rates, least):
    """What the last actor reads, if each of them fires in turn."""
    firings = [1]
    for produced, consumed in rates:
        times = consumed // gcd(firings[-1] * produced, consumed)
        firings = [each * times for each in firings]
        firings.append(firings[-1] * produced // consumed)
    iterations = 1 + least // (firings[-1] * rates[-1][1])
    value, tokens = 1, []
    for _ in range(firings[0] * iterations):
        value += 1
        tokens += [(value + place) % 2**32 for place in range(rates[0][0])]
    for (_, consumed), (produced, _) in zip(rates, rates[1:]):
        value, made = 1, []
        for begin in range(0, len(tokens), consumed):
            for token in tokens[begin:begin + consumed]:
                value = (value * 31 + token) % 2**32
            made += [(value + place) % 2**32 for place in range(produced)]
        tokens = made
    return tokens


def numbers_are_those_of_sequential_execution(graph, file):
    found = [int(line) for line in open(file)]
    print(len(found) > 100 and found == tokens_at_the_end(chain_in(graph), len(found))[:len(found)])
