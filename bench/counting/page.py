"""The frozen counts as the tables of docs/evidence/measurements/arm.md."""
from pathlib import Path

from comparison.failed import Failed

from . import frozen
from .table import PRECISIONS, least

FILE = Path(__file__).resolve().parent.parent.parent / "docs/evidence/measurements/arm.md"
BEGIN = "<!-- counts: bench/instructions --page writes from here -->\n"
END = "<!-- counts: to here -->"
TITLES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "int8": "int8"}
PEERS = {"onnxruntime": "ONNX Runtime 1.22", "ncnn f32": "ncnn, float32",
         "ncnn f16": "ncnn, float16"}


def cell(count, scale, digits, algorithm=""):
    if count is None:
        return ""
    number = f"{count / scale:.{digits}f}"
    return f"{number} `{algorithm}`" if algorithm else number


def row_of(name, entry, precisions, is_layer):
    """Instructions for each multiply-accumulate of a layer, millions for a network."""
    scale, digits = (entry["macs"], 3) if is_layer else (1e6, 1)
    found = [least(entry["counts"], precision) for precision in precisions]
    return [name, f"{entry['macs'] / 1e6:.1f}",
            *(cell(count, scale, digits, algorithm) for count, algorithm in found),
            *(cell(entry["peers"].get(peer), scale, digits) for peer in PEERS)]


def table_of(title, counts, is_layer):
    entries = {name: entry for name, entry in counts.items()
               if (entry["kind"] == "layer") == is_layer}
    precisions = [precision for precision in PRECISIONS
                  if any(least(entry["counts"], precision)[0] for entry in entries.values())]
    titles = [title, "million MACs", *(TITLES[each] for each in precisions), *PEERS.values()]
    rows = [row_of(name, entry, precisions, is_layer) for name, entry in entries.items()]
    rule = ["---", *["---:"] * (len(titles) - 1)]
    return "".join("| " + " | ".join(row) + " |\n" for row in [titles, rule, *rows])


def tables_of(counts):
    return (table_of("layer", counts, True)
            + "\nMillions of instructions that whole networks executed for a frame:\n\n"
            + table_of("network", counts, False))


def parts_of(text):
    """What stands before, between and behind the two marks."""
    before, begin, rest = text.partition(BEGIN)
    between, end, behind = rest.partition(END)
    if not begin or not end:
        raise Failed(f"{FILE.name} lacks the line '{BEGIN.strip()}' or '{END}'")
    return before + begin, between, end + behind


def with_tables(text, counts):
    before, _, behind = parts_of(text)
    return f"{before}\n{tables_of(counts)}\n{behind}"


def write():
    FILE.write_text(with_tables(FILE.read_text(), frozen.read()))
