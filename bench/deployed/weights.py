"""Random weights that make a comparison mean something.

Many networks start with parameters that hide their layers: scales of 1e-6, last layers of zeros,
normalisations that were never fed. Their answers would be constant, or not finite.
"""
import torch

SPREAD = 0.1
ROUNDS = 4
SCORE_MEAN, SCORE_REACH = -1.0, 4.0  # before the sigmoid


def _spread_constants(model):
    """Parameters of equal values get different ones."""
    for parameter in model.parameters():
        if parameter.is_floating_point() and parameter.numel() > 1:
            if float(parameter.max() - parameter.min()) == 0.0:
                parameter.add_(SPREAD * torch.randn_like(parameter))


def _is_frozen(module):
    return "FrozenBatchNorm" in type(module).__name__


def _take_statistics(module, arguments):
    values = arguments[0]
    others = [axis for axis in range(values.dim()) if axis != 1]
    module.running_mean.copy_(values.mean(others))
    module.running_var.copy_(values.var(others, unbiased=False) + 1e-3)


def _feed(model, examples):
    """Batch normalisations take the statistics of random inputs; all else stays in evaluation."""
    fed = [module for module in model.modules()
           if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)
           and module.track_running_stats]
    hooks = [module.register_forward_pre_hook(_take_statistics) for module in model.modules()
             if _is_frozen(module)]
    if not fed and not hooks:
        return
    for module in fed:
        module.reset_running_stats()
        module.train()
        module.momentum = None
    for example in examples:
        model(*example)
    for module in fed:
        module.momentum = 0.1
        module.eval()
    for hook in hooks:
        hook.remove()


class _Settled:
    """Gives the results of a layer, when it first runs, the wanted mean and range."""

    def __init__(self, layer):
        self.hook = layer.register_forward_hook(self)

    def __call__(self, layer, arguments, result):
        self.hook.remove()
        mean = float(result.mean())
        factor = SCORE_REACH / float((result - mean).abs().max() + 1e-6)
        layer.weight.mul_(factor)
        if layer.bias is None:
            return result * factor
        layer.bias.sub_(mean).mul_(factor).add_(SCORE_MEAN)
        return (result - mean) * factor + SCORE_MEAN


def _settle_scores(model, example, names):
    """Scores that are all 0, 1 or the same would leave the order of detections to chance."""
    layers = {}
    for name, module in model.named_modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
            heads = [word for word in names if f".{word}." in f".{name}."]
            for word in heads:
                before = f".{name}.".split(f".{word}.")[0] + word
                rest = f".{name}.".split(f".{word}.", 1)[1].split(".")[0]
                layers[before, rest] = module  # the last one of each head stays
    for module in set(layers.values()):
        _Settled(module)
    if layers:
        model(*example)


def prepare(model, example, scores=()):
    """Spreads the weights of a model and feeds it; `example()` gives random arguments, `scores` are
    names of modules, or of lists of them, that end in scores of classes."""
    model.eval()
    with torch.no_grad():
        _spread_constants(model)
        _feed(model, [example() for _ in range(ROUNDS)])
        _settle_scores(model, example(), scores)
    return model
