"""What the steps of run_taskgraphs.case look at; see run_check.py."""

import json

from json_output import follows  # noqa: F401
from run_deployment import frames_are_accounted_for, is_as_busy_as_simulated  # noqa: F401


def numbers_in(file):
    return [int(line) for line in open(file)]


def each_result_comes_three_times(file, run):
    """After the two tokens that are there before, three of each frame but for those left."""
    numbers = numbers_in(file)
    done = json.load(open(run))["groups"][0]["frames"]["done"]
    results = numbers[2:] + [None] * 2
    threes = [results[i:i + 3] for i in range(0, len(results), 3)]
    whole = threes[:-1]
    print(numbers[:2] == [0, 0] and len(numbers) == 3 * done and len(set(numbers[2:])) > 1 and
          all(len(set(three)) == 1 for three in whole))


def begins_alike(first, second):
    """Of both as many as the shorter has, and enough of them."""
    pairs = list(zip(numbers_in(first), numbers_in(second)))
    print(len(pairs) > 20 and all(a == b for a, b in pairs))


def has_the_utilisation_of(deployed, analysed):
    method = json.load(open(deployed))["mappings"]["methods"][0]
    largest = max(processor["utilisation"] for operation in json.load(open(analysed))["operations"]
                  for processor in operation["processors"])
    print(abs(method["utilisation"] - largest) <= 1e-3 * largest)
