"""Three networks at once, each with a deadline: python deadlines.py squeezenet1_1 mobilenet_v2 digits.onnx"""
import collections
import sys
import time

import numpy

import millrace

system = millrace.System(name="robot")
for name, model, rate in zip(("detect", "classify", "digits"), sys.argv[1:4], (5, 10, 20)):
    system.add(name, model, rate=rate, deadline=1 / rate)
deployment = millrace.deploy(system)
print(deployment)

worst = collections.Counter()


def note(result):
    worst[result.group] = max(worst[result.group], result.response)


frames = {name: numpy.zeros(millrace.Model(model).inputs[0].shape, numpy.float32)
          for name, model in zip(("detect", "classify", "digits"), sys.argv[1:4])}
with deployment.run() as robot:
    for name in frames:
        robot.on_result(name, note)
    for _ in range(40):  # a camera would give frames here
        for name, frame in frames.items():
            robot.feed(name, frame)
        time.sleep(0.05)
for row, report in zip(deployment.bounds, robot.reports):
    print(f"{row.group}: {report.done} frames, slowest {1e3 * worst[row.group]:.2f} ms, bound {1e3 * row.bound:.2f} ms, "
          f"{report.missed} late")
