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
    table = answer.pop("table")  # of other groups

    def write(name, groups):
        answer["groups"] = [
            {"name": f"t{n}", "period_ns": period * 10**6, "deadline_ns": period * 10**6, "processor": npus[0],
             "variants": [{"precision": "f16", "processor": npu, "time_ns": time * 10**6} for npu in npus]}
            for n, (time, period, npus) in enumerate(groups)]
        json.dump(answer, open(name, "w"))

    one, both = ["dla0"], ["dla0", "dla1"]
    write("full.json", 3 * [(10, 30, one)])
    answer["table"] = table
    write("other_table.json", 3 * [(10, 30, one)])
    del answer["table"]
    write("overfull.json", 2 * [(10, 30, one)] + [(11, 30, one)])
    write("moves.json", [(6, 18, one), (7, 21, both), (6, 24, ["dla1"]), (2, 8, both), (10, 30, one), (70, 140, both)])
    return "written"


def reads_first_two(file):
    """The third begins when both others have ended, and all have ended after 6 ms."""
    import json
    entries = json.load(open(file))["table"]["entries"]
    ends = {e["task"]: e["end_ns"] for e in entries}
    begin = {e["task"]: e["begin_ns"] for e in entries}
    print(begin["likely"] >= max(ends["lanes"], ends["obstacles"]) and max(ends.values()) <= 6 * 10**6)


def keeps_entries(before, after):
    """To the nanosecond, in each cycle of the longer table."""
    import json
    old, new = (json.load(open(name))["table"] for name in (before, after))
    there = {(e["task"], e["begin_ns"], e["end_ns"]) for e in new["entries"]}
    shifts = range(0, new["cycle_ns"], old["cycle_ns"])
    print(new["keeps_running"], all((e["task"], e["begin_ns"] + by, e["end_ns"] + by) in there
                                    for by in shifts for e in old["entries"]))


def admits_into_a_process(first, more):
    """Into one that runs, and once more, which is refused: the group is there."""
    import json
    import os
    import subprocess
    import time
    os.makedirs("sockets", mode=0o700, exist_ok=True)
    environment = dict(os.environ, XDG_RUNTIME_DIR=os.path.abspath("sockets"))
    run = subprocess.Popen(["millrace", "run", first, "--duration", "300s", "--json"], env=environment, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = []
    for line in run.stderr:
        lines.append(line)
        if "listens at" in line:
            break
    else:
        raise AssertionError("".join(lines))
    pid = lines[-1].strip().removesuffix(".sock").rpartition("-")[2]  # of the program itself
    admit = ["millrace", "admit", more, "--into", pid, "--json"]
    once, twice = (subprocess.run(admit, env=environment, text=True, capture_output=True) for _ in range(2))
    time.sleep(2)  # some cycles of the new table
    os.kill(int(pid), 2)
    assert once.stdout, once.stderr
    answer, played = json.loads(once.stdout), json.loads(run.communicate()[0])["played"]
    jobs = {group["name"]: group["jobs"] for group in played["groups"]}
    cycle_of_first = json.load(open(first))["table"]["cycle_ns"]
    print(once.returncode, answer["table"]["keeps_running"], answer["handed_over"]["at_ns"] % cycle_of_first == 0,
          jobs["late"] > 0)
    print(twice.returncode, "a group 'late' is there already" if "is there already" in twice.stderr else twice.stderr)
