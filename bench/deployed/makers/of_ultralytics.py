"""ultralytics: exported by its own exporter, from its configuration files."""
import os
import shutil

os.environ.setdefault("YOLO_AUTOINSTALL", "false")
os.environ.setdefault("YOLO_OFFLINE", "true")
os.environ.setdefault("YOLO_VERBOSE", "false")


def _scores(network):
    """The names of the lists of layers that end in scores of classes, or of a box's edges."""
    head = f"model.{len(network.model) - 1}"
    return [f"{head}.{name}" for name in ("cv2", "one2one_cv2", "cv3", "one2one_cv3",
                                          "enc_score_head", "dec_score_head")]


def export(entry, variant, file, example):
    from ultralytics import RTDETR, YOLO
    from .. import weights
    arguments = dict(entry["arguments"])
    kind = RTDETR if arguments.pop("class", "YOLO") == "RTDETR" else YOLO
    task = arguments.pop("task", None)
    network = kind(arguments.pop("model"), **({"task": task} if task else {}))
    weights.prepare(network.model, example, _scores(network.model))
    dynamic = variant["batch"] == "dynamic"
    made = network.export(format="onnx", opset=variant["opset"], simplify=False, dynamic=dynamic,
                          batch=2 if dynamic else 1, nms=variant["suppression"], verbose=False,
                          imgsz=next(iter(entry["inputs"].values()))["shape"][2:], **arguments)
    shutil.move(made, file)


def preload():
    import ultralytics
    ultralytics.YOLO  # loaded lazily
