"""Runs neural networks on every core and accelerator of a board at once.

    import millrace
    plan = millrace.plan("yolo11n.onnx")
    with plan.session() as session:
        for outputs in session.map(frames):
            ...

Arrays go in and come out as numpy arrays. Times are in seconds.
"""
from . import dataflow, realtime
from ._core import Error, __version__
from .applications import Classifier, Detector, Pose, Result, Segmenter, TextReader
from .models import Model, TensorInfo
from .plans import Bench, Plan, Verification, plan
from .sessions import InferenceSession, Outputs, Session
from .systems import Deployment, System, deploy

__all__ = [
    "Bench", "Classifier", "Deployment", "Detector", "Error", "InferenceSession", "Model", "Outputs",
    "Plan", "Pose", "Result", "Segmenter", "Session", "System", "TensorInfo", "TextReader",
    "Verification", "dataflow", "deploy", "plan", "realtime",
]
