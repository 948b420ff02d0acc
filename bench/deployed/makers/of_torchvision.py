"""torchvision: classifiers, segmentation, detectors."""
import torch
import torchvision

SEGMENTATION = torchvision.models.segmentation
DETECTION = torchvision.models.detection
SCORES = ("cls_logits", "classification_head.module_list", "cls_score")


class FirstOutput(torch.nn.Module):
    """Segmentation networks give a dictionary."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return self.model(image)["out"]


class Detector(torch.nn.Module):
    """Detectors take a list of images and give a list of dictionaries."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        answer = self.model(list(image.unbind(0)))[0]
        return tuple(answer[name] for name in ("boxes", "scores", "labels"))


def make(kind, model, **arguments):
    if kind == "segmentation":
        return FirstOutput(getattr(SEGMENTATION, model)(weights=None, weights_backbone=None,
                                                        **arguments))
    if kind == "detection":
        return Detector(getattr(DETECTION, model)(weights=None, weights_backbone=None,
                                                  **arguments))
    extra = {"init_weights": True} if model in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, model)(weights=None, **extra, **arguments)
