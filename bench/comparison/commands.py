"""How each contender is started, and where its answers are found."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import onnx

from .failed import Failed, reason_of
from .worker import Worker


# Those of Millrace, which run the same plans.
WITH_PLANS = ("millrace", "python")


def _cache(network, options):
    """Millrace's profiles: measured here and now, not whenever the user last did."""
    return options.folder / "cache" / network.name


def _environment(network, options):
    return dict(os.environ, XDG_CACHE_HOME=str(_cache(network, options)))


def _millrace(verb, words, network, options):
    done = subprocess.run([str(word) for word in (options.millrace, verb, *words)],
                          capture_output=True, text=True, errors="replace",
                          env=_environment(network, options),
                          preexec_fn=lambda: os.sched_setaffinity(0, options.cores))
    if done.returncode != 0:
        raise Failed(f"millrace {verb}: {reason_of(done.stderr)}")


def plan_path(network, contender, options):
    together = ".together" if contender.setting == "together" else ""
    return options.folder / f"{network.name}.{contender.precision}{together}.plan.json"


def forget_profiles(network, options):
    shutil.rmtree(_cache(network, options), ignore_errors=True)


def _inputs(network):
    return [word for name, file in network.inputs.items()
            for word in ("-i", f"{name}={file}")] + network.weights


def _calibration(network, options):
    """The ranges that int8 needs, of the frames whose answers are compared."""
    path = options.folder / f"{network.name}.calibration.json"
    _millrace("calibrate", [network.models[1], *_inputs(network), "-o", path], network, options)
    return ["--calibration", path]


def make_plan(network, contender, options):
    """The precision is passed on only if it was asked for."""
    path = plan_path(network, contender, options)
    if options.reuse_plans and path.exists():
        return path
    wanted = ["--precision", contender.precision] if options.precision else []
    if contender.setting == "together":
        wanted += ["--processors", "+".join(f"core{core}" for core in sorted(options.cores))]
    if "int8" in contender.precision.split(","):
        wanted += _calibration(network, options)
    more = shlex.split(options.plan_options.replace("{name}", network.name))
    _millrace("plan", [network.models[1], "-o", path, *wanted, *more], network, options)
    return path


def _open_millrace(contender, network, options):
    path = plan_path(network, contender, options)
    if not path.exists():
        raise Failed("there is no plan")
    answer = options.folder / f"{network.name}.millrace.npy"
    _millrace("run", [path, *_inputs(network), "-o", answer], network, options)
    in_flight = [] if contender.setting == "plan" else ["--in-flight", 1]
    return Worker([options.millrace, "bench", path, "--on-request", "--warmup", options.warmup,
                   *in_flight], options.cores, _environment(network, options)), _first_answer(network, answer)


def _first_answer(network, answer):
    """With several outputs, each has a file of its own."""
    outputs = onnx.load(network.models[1], load_external_data=False).graph.output
    name = re.sub(r"[\x00-\x20/\x7f]", "_", outputs[0].name)
    return answer if len(outputs) == 1 else answer.with_name(f"{answer.stem}.{name}.npy")


def _open_served(contender, network, options):
    answer = options.folder / f"{network.name}.{contender.peer}.npy"
    task = {"peer": contender.peer, "precision": contender.precision, "batch": contender.batch,
            "setting": contender.setting, "model": str(network.models[contender.batch]),
            "frames": str(network.frames), "answer": str(answer), "cores": options.cores,
            "warmup": options.warmup}
    if contender.peer in WITH_PLANS:
        task.update(plan=str(plan_path(network, contender, options)), package=str(options.package))
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent.parent))
    return Worker([sys.executable, "-B", "-m", "comparison.serve", json.dumps(task)], options.cores,
                  environment), answer


def open_contender(contender, network, options):
    """Gives the worker, ready to run slices, and its answers."""
    start = _open_millrace if contender.peer == "millrace" else _open_served
    worker, path = start(contender, network, options)
    return worker, numpy.load(path)
