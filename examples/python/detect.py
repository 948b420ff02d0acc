"""Objects in a video, a folder of pictures, or a camera: python detect.py yolo11n.onnx street.mp4 boxes/"""
import sys

import millrace

model, source, folder = sys.argv[1:4]
kind = sys.argv[4] if len(sys.argv) > 4 else "detect"  # "yolo" or "region" for Darknet's networks
detector = millrace.Detector(model, kind=kind)
print(detector.plan)
for result in detector(source):
    names = ", ".join(f"{name} {score:.2f}" for name, score in zip(result.boxes.name[:3], result.boxes.score))
    print(f"{result.source}: {len(result.boxes)} objects: {names}; {1e3 * result.latency:.1f} ms")
    result.save(folder)
