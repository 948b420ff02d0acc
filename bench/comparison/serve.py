"""A peer as a worker (see worker.py): `python -m comparison.serve '{...}'` with the task that
commands.py writes. Stores its answers to the frames of a file first, then runs slices.

A peer is a module with VERSION and a class Session(task, frames): answer(feed) gives the first
output for one batch, slice(seconds, warmup) what a worker answers."""
import importlib
import json
import os
import sys

import numpy

from .failed import Failed


def answers(session, frames, batch):
    """The first output for every frame; the last batch is filled up with the first frames."""
    count = len(next(iter(frames.values())))
    whole = -(-count // batch) * batch
    found = []
    for start in range(0, whole, batch):
        chosen = [i % count for i in range(start, start + batch)]
        feed = {name: numpy.ascontiguousarray(values[chosen]) for name, values in frames.items()}
        found.append(numpy.asarray(session.answer(feed)).reshape(batch, -1))
    return numpy.concatenate(found)[:count]


def serve(task, requests, replies):
    peer = importlib.import_module(f"comparison.peer_{task['peer']}")
    with numpy.load(task["frames"]) as file:
        frames = dict(file)
    session = peer.Session(task, frames)
    numpy.save(task["answer"], answers(session, frames, task["batch"]))
    session.slice(0.0, 0.0)
    print(json.dumps({"ready": True, "version": peer.VERSION}), file=replies, flush=True)
    for line in requests:
        print(json.dumps(session.slice(float(line), task["warmup"])), file=replies, flush=True)


def main():
    task = json.loads(sys.argv[1])
    os.sched_setaffinity(0, task["cores"])
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print must not come between
    try:
        serve(task, sys.stdin, replies)
    except Failed as failed:
        sys.exit(f"error: {failed}")


if __name__ == "__main__":
    main()
