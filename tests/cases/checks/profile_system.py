"""What the steps of profile_system.case look at; see run_check.py."""

import json

from json_output import follows  # noqa: F401


def worst_times_are_those_of_samples(file, samples):
    """Of the larger of the longest and the mean plus six deviations; each task on each core."""
    profile = json.load(open(file))
    right = True
    for each in profile["tasks"]:
        times = each["times"]
        six = times["mean_ns"] + 6 * times["deviation_ns"]
        right = right and abs(times["worst_case_ns"] - max(times["maximum_ns"], six)) <= 7
        right = right and 0 < each["best_ns"] <= times["mean_ns"] and times["count"] >= int(samples)
    places = {(each["task"], each["processor"]) for each in profile["tasks"]}
    tasks, cores = {task for task, _ in places}, {core for _, core in places}
    print(right and len(tasks) == 3 and len(places) == len(profile["tasks"]) == len(tasks) * len(cores))


def takes_the_times_of(deployment, profile, given):
    """Each task has the worst time of all cores; the one whose time is given has that."""
    measured = {}
    for each in json.load(open(profile))["tasks"]:
        worst = each["times"]["worst_case_ns"] / 1e6
        measured[each["task"]] = max(worst, measured.get(each["task"], 0))
    measured[given] = 0.5
    tasks = json.load(open(deployment))["assignments"][0]["tasks"]
    worst = {task["name"].split(".")[0]: task["worst_ms"] for task in tasks if task["step"] == "task"}
    print(set(worst) == set(measured) and all(abs(worst[name] - measured[name]) < 1e-5 for name in worst))
