"""timm: backbones with their classifier, or with the features that other networks take."""
import timm
import torch


class Features(torch.nn.Module):
    """All scales of a backbone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return tuple(self.model(image))


def make(model, features=False, fused=False, **arguments):
    """`fused`: with attention as one operator, which opset 23 has."""
    made = timm.create_model(model, pretrained=False, exportable=not fused, **arguments,
                             **({"features_only": True} if features else {}))
    return Features(made) if features else made
