"""Medians, percentiles and ratios with their spread."""
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some repetitions, and their smallest and largest."""
    median: float
    least: float
    most: float


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def spread(values):
    return Spread(median(values), min(values), max(values))


def percentile(values, share):
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def rate(piece):
    """Frames per second of one slice."""
    return piece["frames"] / piece["elapsed_s"]


def rates(slices):
    return [rate(piece) for piece in slices]


def latencies(slices):
    """Of all slices together, in milliseconds."""
    return [latency for piece in slices for latency in piece["latencies_ms"]]


def ratio(ours, theirs):
    """How many times ours is theirs: repetition by repetition, since those ran one after the
    other and share what the machine was doing."""
    return spread([a / b for a, b in zip(ours, theirs)])


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))
