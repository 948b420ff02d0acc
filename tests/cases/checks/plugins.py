"""What the case plugins asks."""
from pathlib import Path


def add_npu(board):
    """To the file of a board: the device that the example engine reaches."""
    file = Path(board)
    npu = ("  - {name: npu, model: example NPU, kind: npu, processors: [npu0], bandwidth_gb_per_s: 5,\n"
           "     units: [{name: array, peak_gops: {f32: 900}, source: measured}],\n"
           "     source: {bandwidth_gb_per_s: measured},\n"
           "     limits: {granularity: subnet, source: measured}}\n")
    text = file.read_text().replace("memories:", npu + "memories:", 1)
    file.write_text(text.replace("shared_by: [cpu]", "shared_by: [cpu, npu]"))
