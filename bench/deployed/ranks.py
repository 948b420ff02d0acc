"""Rows of detections in the order of their scores. Where two scores differ by less than the
tolerance, either may come first; and another row with the score of the last one may be the last."""
import numpy

MOST_AT_THE_BORDER = 0.1


def _rows(array):
    """Frames x rows x values."""
    if array.ndim == 1:
        return array.reshape(1, -1, 1)
    if array.ndim == 2:
        return array[None]
    return array if array.ndim == 3 else None


def _joined(arrays):
    return numpy.concatenate([_rows(array).astype(numpy.float64) for array in arrays], axis=2)


def _order(found, expected):
    """Which row of `found` is most like each row of `expected`; each is taken once."""
    distance = numpy.abs(found[None] - expected[:, None]).max(2)
    order = numpy.zeros(len(expected), int)
    for row in range(len(expected)):
        order[row] = distance[row].argmin()
        distance[:, order[row]] = numpy.inf
    return order


def _score_column(found, expected, tolerance):
    """The column of the scores: the same in the order that was found, and descending."""
    same = numpy.abs(found - expected).max((0, 1)) <= tolerance
    falls = (numpy.diff(expected, axis=1) <= 0).all((0, 1))
    columns = numpy.flatnonzero(same & falls)
    return columns[0] if len(columns) else None


def _at_the_border(scores, tolerance):
    """Rows that others with the same score may have pushed out: a few at most."""
    rows = scores <= scores[-1] + tolerance
    return rows & (scores[-1] > 0) & (rows.mean() < MOST_AT_THE_BORDER)


def aligned(found, expected, tolerance):
    """`found` with its rows in the order of `expected`, if only equals are in another order."""
    first = _rows(next(iter(expected.values())))
    names = [name for name, array in expected.items() if array.size and first is not None
             and _rows(array) is not None and _rows(array).shape[:2] == first.shape[:2]]
    if not names:
        return found
    ours = _joined([found[name] for name in names])
    theirs = _joined([expected[name] for name in names])
    scales = numpy.abs(theirs).max((0, 1)) + 1e-30  # of each column: classes are larger than scores
    ours, theirs = ours / scales, theirs / scales
    column = _score_column(ours, theirs, tolerance)
    if column is None:
        return found
    result = dict(found)
    orders = [_order(*frames) for frames in zip(ours, theirs)]
    open_rows = [_at_the_border(frame[:, column], tolerance) for frame in theirs]
    for name in names:
        rows = [frame[order] for frame, order in zip(_rows(found[name]), orders)]
        for frame, theirs_too, is_open in zip(rows, _rows(expected[name]), open_rows):
            frame[is_open] = theirs_too[is_open]
        result[name] = numpy.stack(rows).reshape(found[name].shape)
    return result
