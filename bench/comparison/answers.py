"""Whether two programs gave the same answers."""
import numpy


def compare(answer, reference):
    """Frames along the first dimension of both. The error is the largest difference over the
    largest value of the reference; it is infinite if an answer is not a number."""
    answer = numpy.asarray(answer, numpy.float64).reshape(len(answer), -1)
    reference = numpy.asarray(reference, numpy.float64).reshape(len(reference), -1)
    if answer.shape != reference.shape:
        raise ValueError(f"gave answers of the shape {answer.shape}, "
                         f"expected {reference.shape} as the reference has")
    largest = numpy.abs(reference).max()
    difference = numpy.abs(answer - reference).max()
    error = difference / largest if largest > 0 else difference
    same = answer.argmax(axis=1) == reference.argmax(axis=1)
    return {"error": float(error) if numpy.isfinite(difference) else float("inf"),
            "same_top": int(same.sum()), "frames": len(answer)}
