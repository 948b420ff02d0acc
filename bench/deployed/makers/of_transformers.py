"""transformers: networks of a configuration, without any download."""
import torch
import transformers

SCORES = ("enc_score_head", "class_embed", "class_labels_classifier")


def _tensors(answer):
    """The tensors of an answer in a fixed order, without caches."""
    if isinstance(answer, torch.Tensor):
        return [answer]
    if isinstance(answer, dict):
        answer = [value for name, value in answer.items() if name != "past_key_values"]
    if isinstance(answer, (list, tuple)):
        return [tensor for value in answer for tensor in _tensors(value)]
    return []


class Wrapped(torch.nn.Module):
    """Gives names to the arguments, and a plain list for the answer."""

    def __init__(self, model, part, names, outputs):
        super().__init__()
        self.model = model
        self.part = part
        self.names = names
        self.outputs = outputs

    def forward(self, *arguments):
        model = self.model
        for word in self.part.split("."):
            model = getattr(model, word) if word else model
        answer = model(**dict(zip(self.names, arguments)), return_dict=True,
                       **self.outputs.get("call", {}))
        keep = self.outputs.get("keep")
        if keep:
            answer = [answer[name] for name in keep]
        return tuple(_tensors(answer))


def make(model, config, names, settings=None, part="", keep=None, call=None, backbone=None,
         fused=False):
    """`fused`: with attention as one operator, which opset 23 has. `names` are those of the model's arguments, in the order of the entry's inputs."""
    settings = dict(settings or {})
    if backbone:
        settings["backbone_config"] = getattr(transformers, backbone["config"])(
            **backbone.get("settings", {}))
    made = getattr(transformers, config)(**settings)
    fused = fused and getattr(getattr(transformers, model), "_supports_sdpa", False)
    made._attn_implementation = "sdpa" if fused else "eager"
    if hasattr(made, "use_cache"):
        made.use_cache = False
    return Wrapped(getattr(transformers, model)(made), part, names,
                   {"keep": keep, "call": call or {}})


def preload():
    """Lazily loaded parts that most networks need."""
    import transformers.models.bert.modeling_bert  # noqa: F401
    import transformers.models.vit.modeling_vit  # noqa: F401
