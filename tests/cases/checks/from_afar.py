"""What the case from_afar asks."""
import json
import struct
import sys


def same_but_for_times(one, other):
    """The same lines, whatever took how long."""
    times = ("latency_ms", "time_s", "lag_ms")
    lines = [[{key: value for key, value in json.loads(line).items() if key not in times}
              for line in open(file)] for file in (one, other)]
    print(f"{len(lines[0])} the same" if lines[0] == lines[1] else f"{lines[0][0]} {lines[1][0]}")


def greet_as(version):
    """As an agent of this version does."""
    text = version.encode()
    body = struct.pack("<q", 1) + struct.pack("<I", len(text)) + text + struct.pack("<I", 2) + b"/x"
    sys.stdout.buffer.write(b"millrace agent\0\1\2\3" + struct.pack("<IB", len(body), 4) + body)
