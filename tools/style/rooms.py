"""Which room may use which: the table of the architecture."""

_ALL = ("base", "network", "dataflow", "realtime", "board", "kernels", "engine", "profile", "plan", "schedule",
        "analysis", "simulate", "explore", "workload", "runtime", "application", "codegen", "report", "system", "deployment")

MAY_USE = {
    "base": (),
    "network": ("base",),
    "dataflow": ("base",),
    "realtime": ("base",),
    "board": ("base",),
    "kernels": ("base",),
    "workload": ("base", "network", "board", "kernels"),
    "engine": ("base", "network", "board", "kernels", "workload"),
    "profile": ("base", "network", "board", "engine"),
    "plan": ("base", "network", "dataflow", "board", "profile"),
    "schedule": ("base", "network", "dataflow", "plan"),
    "system": ("base", "network", "dataflow", "board"),
    "deployment": ("base", "network", "board", "plan", "realtime", "system"),
    "analysis": ("base", "network", "dataflow", "realtime", "board", "profile", "plan", "schedule", "system",
                 "deployment"),
    "simulate": ("base", "dataflow", "realtime", "board", "profile", "plan", "schedule", "system", "deployment"),
    "explore": ("base", "dataflow", "network", "realtime", "board", "profile", "plan", "schedule", "system", "deployment",
                "analysis", "simulate"),
    "runtime": ("base", "network", "realtime", "board", "engine", "workload", "plan", "schedule", "system",
                "deployment"),
    "application": ("base", "network", "board", "engine", "runtime"),
    "codegen": ("base", "network", "board", "plan", "system", "deployment"),
    "report": ("base", "network", "dataflow", "realtime", "board", "profile", "plan", "schedule", "system",
               "deployment", "analysis", "simulate", "explore", "workload"),
    "api": _ALL,
    # Parses, calls one function of api, prints: nothing here measures, searches or runs.
    "cli": ("base", "network", "dataflow", "realtime", "board", "plan", "schedule", "system", "deployment",
            "analysis", "simulate", "application", "report", "api", "workload"),
    "millrace": _ALL + ("api",),  # src/millrace.h: the whole library
}


def room_of(path):
    """"engine" for src/engine/onednn/engine.cpp, "millrace" for src/millrace.h, else nothing."""
    parts = path.split("/")
    if parts[0] != "src" or len(parts) < 2:
        return None
    return parts[1] if len(parts) > 2 else parts[1].split(".")[0]


def complaint(path, included):
    """Why `path` must not include "included", or nothing."""
    room = room_of(path)
    if room is None:
        return None
    if room not in MAY_USE:
        return f"'{room}' is no room of the architecture"
    target = included.split("/")[0].split(".")[0]
    if target == room or target in MAY_USE[room]:
        return None
    if target not in MAY_USE:
        return f"\"{included}\" does not begin at a room under src/"
    return f"the room {room} may not use {target}"
