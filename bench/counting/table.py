"""Counts as text: instructions for each multiply-accumulate of layers, millions for networks."""
from comparison import table

PRECISIONS = ["f32", "f16", "bf16", "int8"]


def least(counts, precision):
    """The count of the precision's best variant, and the variant's algorithm."""
    found = [(count, variant.partition(":")[2]) for variant, count in counts.items()
             if variant.partition(":")[0] == precision]
    return min(found) if found else (None, "")


def cells_of(result, scale, digits, peers):
    row = [result["name"], f"{result['macs'] / 1e6:.1f}"]
    for precision in PRECISIONS:
        count, algorithm = least(result["counts"], precision)
        row.append("" if count is None else f"{count / scale:.{digits}f} {algorithm}".strip())
    for peer in peers:
        count = result["peers"].get(peer)
        row.append("" if count is None else f"{count / scale:.{digits}f}")
    return row


def part(results, title, scale_of, digits):
    if not results:
        return ""
    peers = list(dict.fromkeys(peer for result in results for peer in result["peers"]))
    used = [p for p in PRECISIONS if any(least(r["counts"], p)[0] for r in results)]
    rows = [cells_of(result, scale_of(result), digits, peers) for result in results]
    kept = [0, 1, *(2 + PRECISIONS.index(p) for p in used), *range(6, 6 + len(peers))]
    columns = [f"<{title}", "million MACs", *used, *peers]
    return table.text(columns, [[row[i] for i in kept] for row in rows])


def text_of(results):
    layers = [result for result in results if result["kind"] == "layer"]
    networks = [result for result in results if result["kind"] == "network"]
    parts = [part(layers, "instructions for a MAC", lambda result: result["macs"], 3),
             part(networks, "million instructions for a frame", lambda result: 1e6, 1)]
    return "\n".join(text for text in parts if text)


def kernels_text(kernels):
    """Those of one precision, the most instructions first, with their share of all."""
    total = sum(each["count"] for each in kernels)
    rows = [[each["layer"], each["kernel"], f"{each['macs'] / 1e6:.2f}",
             f"{each['count'] / 1e6:.3f}", f"{each['count'] / total:.1%}",
             f"{each['count'] / each['macs']:.3f}" if each["macs"] else ""]
            for each in sorted(kernels, key=lambda each: -each["count"])]
    columns = ["<first layer", "<kernel", "million MACs", "million instructions", "share",
               "for a MAC"]
    return table.text(columns, rows)
