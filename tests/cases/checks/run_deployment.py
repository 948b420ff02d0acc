"""What the steps of run_deployment.case look at; see run_check.py."""

import json

from json_output import follows  # noqa: F401


def frames_are_accounted_for(file):
    """Every frame that was due is skipped or done, in all and in each part."""
    groups = json.load(open(file))["groups"]
    counts = [g["frames"] for g in groups] + [p["frames"] for g in groups for p in g["parts"]]
    print(any(f["due"] for f in counts) and
          all(f["due"] == f["skipped"] + f["done"] and f["lost"] == 0 for f in counts))


def additions_in(file):
    """What was admitted, the groups of the run, and whether the added one had frames."""
    run = json.load(open(file))
    print([a["admitted"] for a in run["additions"]], [g["group"] for g in run["groups"]],
          run["groups"][-1]["frames"]["done"] > 0)


def is_as_busy_as_simulated(processor, run, drive):
    """Within a fifth; and the clocks that could not be set."""
    run, drive = json.load(open(run)), json.load(open(drive))
    worked, simulated = (next(p["utilisation"] for p in each["processors"] if p["processor"] == processor)
                         for each in (run, drive))
    print(simulated > 0.05 and abs(worked / simulated - 1) < 0.2, run["clocks_that_stay"])


def names_in(file):
    trace = json.load(open(file))
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    print("\n".join(sorted({event["name"] for event in events if "stage" in event["name"]})))


def as_alone(alone, group):
    """What a group found in each picture beside what its application finds alone."""
    def classes_in(file):
        return [(each["source"], each["classes"]) for each in map(json.loads, open(file))]
    expected, found = dict(classes_in(alone)), classes_in(group)
    wrong = [source for source, classes in found if expected[source] != classes]
    print(f"results of {len({source for source, _ in found})} pictures as alone" if not wrong else wrong)
