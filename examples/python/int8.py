"""Is int8 faster, and still right? python int8.py digits.onnx images.npy labels.txt"""
import sys

import numpy

import millrace

model = millrace.Model(sys.argv[1])
images = list(numpy.load(sys.argv[2]).astype(numpy.float32).reshape(-1, *model.inputs[0].shape))
labels = numpy.loadtxt(sys.argv[3], dtype=int)[:len(images)]
output = model.outputs[0].name

for name, plan in [("float32", millrace.plan(model, measure=0.1)),
                   ("int8", millrace.plan(model, precision=["f32", "int8"], calibration=images[:100], measure=0.1))]:
    with plan.session() as session:
        found = numpy.array([outputs[output].argmax() for outputs in session.map(images)])
    print(f"{name}: {(found == labels).mean():.1%} right, {plan.bench(seconds=0.5, baselines=False).fps:.0f} frames/s")
