"""Checks of admit.case."""
from json_output import follows  # noqa: F401


def transfers_lie_around_jobs(file):
    """Of each job: in, run, out, one after the other; and the link does one thing at a time."""
    import json
    admitted = json.load(open(file))
    jobs, link = {}, []
    for entry in admitted["table"]["entries"]:
        jobs.setdefault((entry["task"], entry["job"]), []).append(entry)
        if entry["part"] != "run":
            link.append((entry["begin_ns"], entry["end_ns"]))
    in_order = all([e["part"] for e in job] == ["in", "run", "out"] and
                   all(a["end_ns"] <= b["begin_ns"] for a, b in zip(job, job[1:])) for job in jobs.values())
    alone = all(a[1] <= b[0] for a, b in zip(sorted(link), sorted(link)[1:]))
    load = {unit["name"]: unit["load"] for unit in admitted["units"]}["hailo8 link"]
    cycle = admitted["table"]["cycle_ns"]
    print(len(jobs) > 2 and in_order and alone and abs(sum(e - b for b, e in link) / cycle - load) < 1e-6)


def loads_are_those_of_the_table(file):
    """Whose periods are not all the groups' own."""
    import json
    admitted = json.load(open(file))
    table = admitted["table"]
    units = {processor["name"]: processor["units"] for processor in admitted["processors"]}
    busy, recur = {unit["name"]: 0 for unit in admitted["units"]}, True
    for group in admitted["groups"]:
        entries = [entry for entry in table["entries"] if entry["task"] == group["name"]]
        recur = recur and len(entries) * group["table_period_ns"] == table["cycle_ns"]
        for unit in units[group["processor"]]:
            busy[unit] += sum(entry["end_ns"] - entry["begin_ns"] for entry in entries)
    right = all(abs(busy[unit["name"]] / table["cycle_ns"] - unit["load"]) < 1e-6 for unit in admitted["units"])
    print(recur, right, any(group["table_period_ns"] < group["period_ns"] for group in admitted["groups"]))


def cost_is_that_without_whole_numbers(file):
    """No relaxation of another problem, in which more may move, stands beside the cost."""
    import json
    admitted = json.load(open(file))
    print(0 < admitted["relaxed"] <= admitted["cost"] < 1.001 * admitted["relaxed"])


def full_npu(file):
    """Writes answers as if these groups ran: time and period in ms, and the NPUs that have a variant."""
    import json
    answer = json.load(open(file))

    def write(name, groups):
        answer["groups"] = [
            {"name": f"t{n}", "period_ns": period * 10**6, "deadline_ns": period * 10**6, "processor": npus[0],
             "variants": [{"precision": "f16", "processor": npu, "time_ns": time * 10**6} for npu in npus]}
            for n, (time, period, npus) in enumerate(groups)]
        json.dump(answer, open(name, "w"))

    one, both = ["dla0"], ["dla0", "dla1"]
    write("full.json", 3 * [(10, 30, one)])
    write("overfull.json", 2 * [(10, 30, one)] + [(11, 30, one)])
    write("moves.json", [(6, 18, one), (7, 21, both), (6, 24, ["dla1"]), (2, 8, both), (10, 30, one), (70, 140, both)])
    return "written"
