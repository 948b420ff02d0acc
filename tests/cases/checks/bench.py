"""What the steps of bench.case look at; see run_check.py."""

import json


def fused_layers_move_less():
    print(
        [
            0 < s["moved_bytes"] < s["layer_by_layer_bytes"]
            for s in json.load(open("bench.json"))["stages"]
        ]
    )


def names_of_rows():
    rows = json.load(open("beside.json"))["rows"]
    print([row["name"] for row in rows][:2], rows[-1]["name"], len(rows) >= 4)


def each_line_lasts_as_asked():
    lines = [json.loads(line) for line in open("lines.json")][1:]
    print(
        [
            len(l["latencies_ms"]) == l["frames"] >= 10 and l["elapsed_s"] >= s
            for l, s in zip(lines, (0.02, 0.05))
        ]
    )


def latencies_fill_the_time():
    line = [json.loads(line) for line in open("lines.json")][2]
    print(0.2 < sum(line["latencies_ms"]) / 1000 / line["elapsed_s"] <= 1)
