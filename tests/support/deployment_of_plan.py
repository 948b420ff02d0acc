#!/usr/bin/env python3
"""deployment_of_plan.py PLAN SYSTEM OUT: a deployment by hand, for tests. Each group of the system, a
file in JSON, runs the plan, whose predicted times are its average ones; the worst is a fifth longer.
Steps before and after the network run on core0. There is a setting for each scenario and level, with
the highest clocks."""

import json
import sys


def phase_tasks(plan):
    tasks = []
    for s, stage in enumerate(plan["stages"]):
        for p, phase in enumerate(stage["phases"]):
            average = phase.get("predicted_ms", stage["predicted_ms"])
            tasks.append({
                "name": f"{stage['name']}.{p}" if p else stage["name"], "step": "phase", "stage": s,
                "phase": p, "processor": stage["processor"]["name"], "worst_ms": round(average * 1.2, 6),
                "average_ms": average, "best_ms": round(average * 0.9, 6)})
    return tasks


def step_task(step, name, worst):
    return {"name": name, "step": step, "processor": "core0", "worst_ms": worst, "average_ms": worst,
            "best_ms": worst}


def tasks_of(group, plan):
    tasks = phase_tasks(plan)
    if "preprocess_ms" in group:
        tasks.insert(0, step_task("preprocess", "pre", group["preprocess_ms"]))
    if "postprocess_ms" in group:
        tasks.append(step_task("postprocess", "post", group["postprocess_ms"]))
    for before, task in zip(tasks, tasks[1:]):
        task["after"] = [before["name"]]
    return tasks


def main():
    plan_file, system_file, out = sys.argv[1:]
    plan, system = json.load(open(plan_file)), json.load(open(system_file))
    settings = [{"scenario": scenario["name"], "level": level, "clocks_mhz": {}, "bounds_ms": {}}
                for scenario in system["scenarios"] for level in range(system.get("levels", 1))]
    assignments = [{"group": group["name"], "priority": group.get("priority", len(system["groups"]) - g),
                    "tasks": tasks_of(group, plan), "plan": plan}
                   for g, group in enumerate(system["groups"])]
    origin = plan["origin"]
    board = {"name": origin["options"].get("board", "this machine"), "hash": origin["board"]}
    deployment = {"format": 1, "kind": "deployment", "method": "by hand", "contention": "modelled",
                  "board": board, "system": system, "assignments": assignments, "settings": settings}
    json.dump(deployment, open(out, "w"), indent=1)


if __name__ == "__main__":
    main()
