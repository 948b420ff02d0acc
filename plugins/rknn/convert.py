"""Converts a subnet with Rockchip's rknn-toolkit2: convert.py FOLDER.

The folder has model.onnx and job.json; the result is model.rknn. A failure is one line on standard
output that begins with "FAULT: "."""

import json
import os
import re
import sys

SAMPLES = 4  # of inputs, from which the toolkit takes ranges that it is not given


class Fault(Exception):
    """What a user is told."""


def reason_of(error):
    """The toolkit's sentence, out of the tracebacks in which it wraps it."""
    said = re.findall(r"^\w*(?:Error|Exception): (.+)$", str(error), re.MULTILINE)
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (said or lines or [type(error).__name__])[-1].strip()


def check(result, what):
    if result != 0:
        raise Fault(f"the toolkit's {what} failed with {result}")


def write_samples(job):
    """Random values within the ranges of the inputs, and the list of their files."""
    import numpy

    random = numpy.random.default_rng(1)
    lines = []
    for sample in range(SAMPLES):
        files = []
        for number, value in enumerate(job["inputs"]):
            low, high = value["range"]
            file = f"sample{sample}_{number}.npy"
            numpy.save(file, random.uniform(low, high, value["shape"]).astype(numpy.float32))
            files.append(file)
        lines.append(" ".join(files))
    with open("samples.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return "samples.txt"


def bounds(entry):
    return entry["min"][0], entry["max"][0]


def is_own(entry):
    """Whether the toolkit measured the range at this tensor. Others have that of a neighbour with
    which they are computed in one step, or share their scale."""
    return bounds(entry) == (entry["ori_min"][0], entry["ori_max"][0])


def set_range(entry, low, high):
    entry["min"] = [float(low)]
    entry["max"] = [float(high)]


def give_ranges(tensors, ranges):
    """Our ranges in the toolkit's table. Tensors with the same range in it keep one in common."""
    groups = {}
    for name, entry in tensors.items():
        if entry["dtype"] == "int8" and entry["qmethod"] == "layer":
            groups.setdefault(bounds(entry), []).append(name)
    for (least, _), names in groups.items():
        ours = [ranges[name] for name in names if name in ranges and is_own(tensors[name])]
        if not ours:
            continue
        low = 0.0 if least >= 0 else min(low for low, _ in ours)
        high = max(high for _, high in ours)
        for name in names:
            set_range(tensors[name], min(low, 0.0), max(high, 0.0))


def as_text(value):
    """As JSON, which YAML reads, with a point in each float, and exact: the toolkit refuses a table
    in which a number is another one that it wrote itself."""
    if isinstance(value, dict):
        entries = (f"{json.dumps(str(key))}: {as_text(each)}" for key, each in value.items())
        return "{" + ",\n".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    text = json.dumps(value)
    is_bare = isinstance(value, float) and "." not in text
    return text.replace("e", ".0e", 1) if is_bare else text


def edit_table(file, job):
    """The table of the toolkit's first step, as the second one reads it."""
    from ruamel.yaml import YAML

    with open(file, encoding="utf-8") as source:
        table = YAML(typ="safe", pure=True).load(source)
    # Not by reference: entries may share lists.
    tensors = {name: dict(entry) for name, entry in table["quantize_parameters"].items()}
    give_ranges(tensors, job["ranges"])
    stay = {name: "float16" for name in job["float16"] if name in tensors}
    with open(file, "w", encoding="utf-8") as target:
        target.write(as_text({"custom_quantize_layers": stay, "quantize_parameters": tensors}))


def opened(job):
    from rknn.api import RKNN

    rknn = RKNN(verbose=False)
    check(rknn.config(target_platform=job["platform"]), "config()")
    return rknn


def loaded(job):
    rknn = opened(job)
    check(rknn.load_onnx(model="model.onnx"), "load_onnx()")
    return rknn


def quantised(job):
    """In two steps, with our ranges in the table between them."""
    first = loaded(job)
    check(first.hybrid_quantization_step1(dataset=write_samples(job)), "first step")
    first.release()
    edit_table("model.quantization.cfg", job)
    second = opened(job)
    check(
        second.hybrid_quantization_step2("model.model", "model.data", "model.quantization.cfg"),
        "second step",
    )
    return second


def build(folder):
    """The converted subnet as an object of the toolkit, which can also simulate it."""
    os.chdir(folder)
    with open("job.json", encoding="utf-8") as file:
        job = json.load(file)
    if job["int8"]:
        return quantised(job)
    rknn = loaded(job)
    check(rknn.build(do_quantization=False), "build()")
    return rknn


def main():
    try:
        check(build(sys.argv[1]).export_rknn("model.rknn"), "export_rknn()")
    except Exception as error:  # whatever the toolkit raises, it is one sentence
        print("\nFAULT: " + reason_of(error), flush=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
