#!/usr/bin/env python3
"""Prints the `millrace plan` command that divides a network as a mapping file of AutoDiCE says.

  from_autodice.py mapping.json alexnet.onnx --boards pair.yaml -- -o alexnet.plan.json | sh

A mapping file is one JSON object: {"HOST_cpu0": ["layer", ...], "HOST_cpu123": [...], "HOST_gpu": [...]}. Each digit is a core.
A layer has the name of its first output, with '_' for '/', or the one that Millrace shows. A host is a board of the file of
boards, or the one where the program runs. What follows -- is added to the command. Wrong files end it with 3 and one sentence.
"""
import argparse
import difflib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

FORMAT = '{"HOST_cpu0": ["layer", ...], "HOST_cpu1": [...]}'


class InputError(Exception):
    """Wrong input: the place, what was found, what to do."""


def fields(message):
    """(number, value) of each field of a protobuf message; a value is bytes or a number."""
    place = 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
            continue
        size = {1: 8, 5: 4}.get(key & 7) or number()
        yield key >> 3, message[place:place + size]
        place += size


def names_in_onnx(path):
    """What AutoDiCE calls each node, beside what Millrace calls its layer: the node's name, or its operator and number."""
    names, taken = {}, set()
    graph = next(value for number, value in fields(memoryview(path.read_bytes())) if number == 7)
    for position, node in enumerate(value for number, value in fields(graph) if number == 1):
        texts = {}
        for number, value in fields(node):
            if number in (2, 3, 4):  # output, name, operator
                texts.setdefault(number, bytes(value).decode())
        layer = texts.get(3) or f"{texts.get(4)}_{position}"
        if layer in taken:
            raise InputError(f"{path}: two nodes have the name '{layer}'; give each node its own name")
        taken.add(layer)
        names[texts.get(2, layer).replace("/", "_")] = layer
    return names


def layers_of(options):
    """Millrace's layers in their order, and AutoDiCE's name of each node with its layer, which may be none of these."""
    shapes = [word for shape in options.shape for word in ("--shape", shape)]
    done = subprocess.run([options.millrace, "inspect", options.model, *shapes, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise InputError(done.stderr.strip().removeprefix("millrace: "))
    layers = [layer["name"] for layer in json.loads(done.stdout)["layers"]]
    path = Path(options.model)
    names = names_in_onnx(path) if path.suffix == ".onnx" else {}
    return layers, {layer: layer for layer in layers} | names


def object_without_repeats(pairs):
    result = {}
    for name, value in pairs:
        if name in result:
            raise InputError(f"the resource '{name}' is there twice; write one list with the layers of both")
        result[name] = value
    return result


def read_mapping(path):
    try:
        mapping = json.loads(Path(path).read_text(), object_pairs_hook=object_without_repeats)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a mapping file of AutoDiCE") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text; name a mapping file of AutoDiCE") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno}, column {error.colno}: is not JSON ({error.msg}); "
                         f"write one object, {FORMAT}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(mapping, dict) or not mapping:
        raise InputError(f"{path}: has no resources; write one object, {FORMAT}")
    for resource, layers in mapping.items():
        if not isinstance(layers, list) or not all(isinstance(layer, str) for layer in layers):
            raise InputError(f"{path}: {resource}: is no list of names; write the layers of the resource, as in {FORMAT}")
    return mapping


def boards_in(path):
    if path is None:
        return []
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a file of boards") from None
    _, _, boards = text.partition("boards:")
    return re.findall(r"\bname:\s*[\"']?([\w-]+)", boards)


def processor_of(resource, boards, place):
    host, _, cores = resource.rpartition("_")
    board = f"{host}." if host in boards else ""
    remedy = f"say which processor it is, as in --device {resource}={board}core0"
    found = re.fullmatch(r"(?:cpu|arm)([0-9]+)", cores)
    if not host or not found:
        raise InputError(f"{place}: {resource}: names no cores, as HOST_cpu0 does; {remedy}")
    first, last, count = int(found[1][0]), int(found[1][-1]), len(found[1])
    if count == 1:
        return f"{board}core{first}"
    if board:
        raise InputError(f"{place}: {resource}: joins {count} cores of another board, which Millrace does not do; {remedy}")
    if found[1] != "".join(map(str, range(first, last + 1))):
        raise InputError(f"{place}: {resource}: names cores that do not follow each other; {remedy}")
    return f"cores{first}-{last}"


def processors_of(mapping, options):
    """The processor of each resource that has layers."""
    given = dict(device.partition("=")[::2] for device in options.device)
    for resource, processor in given.items():
        if resource not in mapping or not processor:
            raise InputError(f"--device: {resource}: is no resource of {options.mapping} with its processor; "
                             f"write RESOURCE=PROCESSOR, as in {next(iter(mapping))}=core0")
    boards, found = boards_in(options.boards), {}
    for resource in filter(mapping.get, mapping):
        found[resource] = given.get(resource) or processor_of(resource, boards, options.mapping)
    here = sorted({each.rpartition("_")[0] for each in found if each not in given} - set(boards))
    if len(here) > 1:
        where = options.boards or "a file of boards (--boards)"
        raise InputError(f"{options.mapping}: the hosts {', '.join(here)} are not in {where}; "
                         "name all of them there but the one where you run this")
    return found


def resource_of_layers(mapping, names, place):
    """The resource of each of Millrace's layers."""
    chosen = {}
    for resource, listed in mapping.items():
        for name in listed:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                remedy = f"did you mean '{near[0]}'?" if near else "`millrace inspect MODEL` lists them"
                raise InputError(f"{place}: {resource}: the network has no layer '{name}'; {remedy}")
            other = chosen.setdefault(names[name], resource)
            if other != resource or listed.count(name) > 1:
                raise InputError(f"{place}: {resource}: the layer '{name}' is there twice, first for {other}; leave it out once")
    return chosen


def stages_of(layers, chosen, names, place):
    """(resource, its last layer) of each stage, in the order of the layers."""
    called = {layer: name for name, layer in names.items()}
    missing = [called[layer] for layer in layers if layer not in chosen]
    if missing:
        more = f" and {len(missing) - 3} others" if len(missing) > 3 else ""
        raise InputError(f"{place}: has no resource for {', '.join(missing[:3])}{more}; add each layer to one resource")
    stages = []
    for layer in layers:
        if stages and stages[-1][0] == chosen[layer]:
            stages.pop()
        stages.append((chosen[layer], layer))
    return stages


def command_for(options):
    mapping = read_mapping(options.mapping)
    layers, names = layers_of(options)
    stages = stages_of(layers, resource_of_layers(mapping, names, options.mapping), names, options.mapping)
    processors = processors_of(mapping, options)
    devices = [processors[resource] for resource, _ in stages]
    words = [options.millrace, "plan", options.model]
    for shape in options.shape:
        words += ["--shape", shape]
    if options.boards:
        words += ["--engine", "onednn,cluster", "--engine-option", f"cluster.file={options.boards}"]
    words += ["--processors", ",".join(dict.fromkeys(each for device in devices for each in device.split("+")))]
    words += ["--devices", ",".join(devices)]
    if len(stages) > 1:
        words += ["--cut-points", ",".join(layer for _, layer in stages[:-1])]
    return words


def main():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mapping", help="AutoDiCE's mapping file")
    parser.add_argument("model", help="an ONNX file, or a network that `millrace zoo` lists")
    parser.add_argument("--boards", help="the file of boards")
    parser.add_argument("--device", action="append", default=[], help="RESOURCE=PROCESSOR, such as nx01_gpu=cuda0. Repeatable")
    parser.add_argument("--shape", action="append", default=[], help="shape of an input, as for `millrace plan`. Repeatable")
    parser.add_argument("--millrace", default="millrace", help="the command")
    try:
        print(shlex.join(command_for(parser.parse_args(words[:end])) + words[end + 1:]))
    except InputError as error:
        print(f"from_autodice.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
