"""What the steps of dataflow.case look at; see run_check.py."""

import json
import sys


def print_analysis():
    d = json.load(sys.stdin)
    print(
        d["consistent"],
        d["live"],
        d["repetition_vector"],
        d["throughput_iterations_per_time"],
        d["latency_time"],
        d["critical_cycle"],
        d["buffers"],
        d["buffers_bytes"],
    )
