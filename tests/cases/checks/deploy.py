"""Checks of deploy.case."""
from json_output import follows  # noqa: F401


def bound_is_at_most(file, power):
    """The bound is not above what a deployment by hand draws, and the search is as good as that."""
    import json
    method = json.load(open(file))["methods"][0]
    print(0 < method["bound_mw"] <= method["exact_mw"] <= float(power))
