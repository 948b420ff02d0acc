"""The list of architectures as text, one line for each thing that people change."""
import json


def _entry(entry):
    ranked = ' "ranked": true,' if entry.get("ranked") else ""
    variants = ",\n       ".join(json.dumps(variant) for variant in entry["variants"])
    return ("    {" + f'"name": {json.dumps(entry["name"])}, '
            f'"package": {json.dumps(entry["package"])}, "maker": {json.dumps(entry["maker"])},'
            f'{ranked}\n     "arguments": {json.dumps(entry["arguments"])},\n'
            f'     "inputs": {json.dumps(entry["inputs"])},\n'
            f'     "variants": [\n       {variants}],\n'
            f'     "operators": {json.dumps(entry["operators"])}' + "}")


def text_of(entries):
    return '{\n  "architectures": [\n' + ",\n".join(map(_entry, entries)) + "\n  ]\n}\n"


def with_operators(entries, results):
    """The operators that were found in the files of each architecture; if not all were made, those of before too."""
    found, files = {}, {}
    for result in results:
        found.setdefault(result.name, set()).update(result.operators)
        files[result.name] = files.get(result.name, 0) + bool(result.operators)
    for entry in entries:
        if files.get(entry["name"], 0) < len(entry["variants"]):
            found.setdefault(entry["name"], set()).update(entry["operators"])
    return [dict(entry, operators=sorted(found[entry["name"]])) for entry in entries]
