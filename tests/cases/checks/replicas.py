"""The stages of plans, a stage with replicas once for each."""

import json


def replicas_in(path):
    """(processor, stage) of each replica."""
    for stage in json.load(open(path))["stages"]:
        for processor in stage.get("processors", [stage.get("processor")]):
            yield processor, stage
