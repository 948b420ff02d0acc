"""Random inputs, as the list describes them."""
import numpy

VALUES = ("normal", "uniform", "tokens", "ones")
PATCH = 32  # the pixels of a patch of one colour


def _patches(shape, draw):
    """Fine noise alone would be averaged away: deep layers would see the same in all pictures."""
    coarse = draw([*shape[:2], *(-(-size // PATCH) for size in shape[2:])])
    for axis in range(2, len(shape)):
        coarse = coarse.repeat(PATCH, axis)
    return coarse[tuple(slice(0, size) for size in shape)]


def _frame(spec, generator):
    shape, values = spec["shape"], spec.get("values", "normal")
    if values == "tokens":
        return generator.integers(0, spec["below"], shape, dtype=numpy.int64)
    if values == "ones":
        return numpy.ones(shape, numpy.int64)
    draw = generator.random if values == "uniform" else generator.standard_normal
    fine = draw(shape)
    noise = (fine + _patches(shape, draw)) / 2 if len(shape) == 4 else fine
    return noise.astype(numpy.float32)


def arrays(entry, batch, seed):
    """Name to array, for all inputs of an entry; the first dimension is the batch. The first frame
    of a seed is the same, however many there are."""
    frames = []
    for index in range(batch):
        generator = numpy.random.default_rng([seed, index])
        frames.append({name: _frame(spec, generator) for name, spec in entry["inputs"].items()})
    return {name: numpy.concatenate([frame[name] for frame in frames]) for name in entry["inputs"]}
