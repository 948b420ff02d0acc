#!/usr/bin/env python3
"""Admits sets into a process that runs, one after the other, and counts what was late there.

  bench/admit_into.py MILLRACE MODEL [--sets 100] [--rate 10]

Prints how long decisions took, and jobs, overruns and missed deadlines of all groups. Lateness while the host of a
virtual machine, or other processes, had the cores is shown apart where the kernel counts it.
"""
import argparse
import json
import os
import subprocess
import tempfile


def group_file(folder, name, model, rate):
    path = os.path.join(folder, f"{name}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"format: 1\nname: {name}\ngroups:\n  - {{name: {name}, model: {model}, rate_fps: {rate}}}\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("millrace")
    parser.add_argument("model")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rate", type=float, default=10)
    options = parser.parse_args()
    model = os.path.abspath(options.model)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder)

        def call(*arguments):
            done = subprocess.run([options.millrace, *arguments], env=environment, text=True, capture_output=True)
            return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

        first = group_file(folder, "first", model, 2 * options.rate)
        code, answer = call("plan", first, "--method", "admission", "--together", "0", "--json")
        assert code == 0, answer
        running = os.path.join(folder, "first.json")
        with open(running, "w", encoding="utf-8") as file:
            json.dump(answer, file)
        run = subprocess.Popen([options.millrace, "run", running, "--duration", "3600s", "--json"], env=environment,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in run.stderr:
            if "listens at" in line:
                break
        decided, prepared, refused = [], [], []
        for number in range(options.sets):
            more = group_file(folder, f"more{number}", model, options.rate)
            code, answer = call("plan", more, "--method", "admission", "--into", str(run.pid), "--json")
            if code != 0:
                refused.append((number, answer if isinstance(answer, str) else answer.get("no_table", "does not fit")))
                continue
            decided.append(answer["decided_ms"])
            prepared.append(answer["handed_over"]["prepared_ns"] / 1e6)
        run.send_signal(2)
        played = json.loads(run.communicate()[0])["played"]
        groups = played["groups"]
        decided.sort()
        print(f"admitted   {len(decided)} of {options.sets}" + (f", refused {refused[:3]}" if refused else ""))
        print(f"decided    median {decided[len(decided) // 2]:.3f} ms, longest {decided[-1]:.3f} ms")
        print(f"prepared   longest {max(prepared):.1f} ms, beside what ran")
        print(f"jobs       {sum(group['jobs'] for group in groups)} of {len(groups)} groups in "
              f"{played['elapsed_ms'] / 1000:.1f} s")
        print(f"missed     {sum(group['missed'] for group in groups)} deadlines")
        print(f"overruns   {sum(group['overruns'] for group in groups)} of planned times, "
              f"{sum(group['disturbed_overruns'] for group in groups)} of them while the host had the core")


if __name__ == "__main__":
    main()
