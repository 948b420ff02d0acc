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
