"""What the steps of cuda.case look at; see run_check.py."""

import json
import subprocess


def runs_in_order(plan):
    """Frames leave in the order in which they came, with the outputs of the same run on a core."""
    lines = subprocess.run(
        ["millrace", "run", plan, "--random", "200"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()
    frames = [json.loads(line) for line in lines]
    assert [frame["frame"] for frame in frames] == list(range(200))
    sizes = {len(frame["outputs"]["probabilities"]["values"]) for frame in frames}
    assert all(abs(sum(f["outputs"]["probabilities"]["values"]) - 1) < 1e-4 for f in frames)
    print(f"200 frames in order, {sizes.pop()} numbers each")
