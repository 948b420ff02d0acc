"""Random inputs, as the list describes them."""
import numpy

VALUES = ("normal", "uniform", "tokens", "ones", "lengths")


def array(spec, batch, generator):
    """One input; its first dimension is the batch."""
    shape = [batch * spec["shape"][0], *spec["shape"][1:]]
    values = spec.get("values", "normal")
    if values == "tokens":
        return generator.integers(0, spec["below"], shape, dtype=numpy.int64)
    if values == "ones":
        return numpy.ones(shape, numpy.int64)
    if values == "uniform":
        return generator.random(shape, dtype=numpy.float32)
    return generator.standard_normal(shape, dtype=numpy.float32)


def arrays(entry, batch, seed):
    """Name to array, for all inputs of an entry."""
    generator = numpy.random.default_rng(seed)
    return {name: array(spec, batch, generator) for name, spec in entry["inputs"].items()}
