"""Rows of detections in the order of their scores. Where two scores differ by less than the
tolerance, either may come first."""
import numpy


def _rows(array):
    """Frames x rows x values."""
    if array.ndim == 1:
        return array.reshape(1, -1, 1)
    if array.ndim == 2:
        return array[None]
    return array if array.ndim == 3 else None


def _joined(arrays, scales):
    return numpy.concatenate([_rows(array).astype(numpy.float64) / scale
                              for array, scale in zip(arrays, scales)], axis=2)


def _order(found, expected):
    """Which row of `found` is most like each row of `expected`; each is taken once."""
    distance = numpy.abs(found[None] - expected[:, None]).max(2)
    order = numpy.zeros(len(expected), int)
    for row in range(len(expected)):
        order[row] = distance[row].argmin()
        distance[:, order[row]] = numpy.inf
    return order


def _has_equal_scores(found, expected, tolerance):
    """Whether some column, that of the scores, is the same in the order that was found."""
    return bool((numpy.abs(found - expected).max((0, 1)) <= tolerance).any())


def aligned(found, expected, tolerance):
    """`found` with its rows in the order of `expected`, if only equals are in another order."""
    first = _rows(next(iter(expected.values())))
    names = [name for name, array in expected.items() if array.size and first is not None
             and _rows(array) is not None and _rows(array).shape[:2] == first.shape[:2]]
    if not names:
        return found
    scales = [float(numpy.abs(expected[name]).max()) or 1.0 for name in names]
    ours = _joined([found[name] for name in names], scales)
    theirs = _joined([expected[name] for name in names], scales)
    if not _has_equal_scores(ours, theirs, tolerance):
        return found
    result = dict(found)
    orders = [_order(*frames) for frames in zip(ours, theirs)]
    for name in names:
        rows = _rows(found[name])
        sorted_rows = [frame[order] for frame, order in zip(rows, orders)]
        result[name] = numpy.stack(sorted_rows).reshape(found[name].shape)
    return result
