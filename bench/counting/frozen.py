"""The counts that later ones are compared with."""
import json
from pathlib import Path

FILE = Path(__file__).with_name("frozen.json")
CPU = "cortex-a76"
ALLOWED = 1.03


def read():
    return json.loads(FILE.read_text())["counts"] if FILE.exists() else {}


def write(results):
    counts = read()
    for result in results:
        peers = {**counts.get(result["name"], {}).get("peers", {}),
                 **{peer: count for peer, count in result["peers"].items() if count}}
        counts[result["name"]] = {"kind": result["kind"], "macs": result["macs"], "counts": result["counts"],
                                  "peers": peers}
    lines = [f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in counts.items()]
    FILE.write_text('{\n  "format": 1, "cpu": "%s", "unit": "executed instructions",\n'
                    '  "counts": {\n%s\n  }\n}\n' % (CPU, ",\n".join(lines)))


def worse(results):
    """A line for each count that grew by more than 3 %, and for each way that is gone."""
    before, lines = read(), []
    for result in results:
        for variant, expected in before.get(result["name"], {}).get("counts", {}).items():
            found = result["counts"].get(variant)
            if found is None:
                lines.append(f"{result['name']}, {variant}: this variant is gone")
            elif found > ALLOWED * expected:
                lines.append(f"{result['name']}, {variant}: {found} instructions, "
                             f"{found / expected - 1:.1%} above the frozen {expected}")
    return lines
