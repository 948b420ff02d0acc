"""Which room may use which: the table of the architecture."""

_ALL = ("base", "network", "formats", "dataflow", "realtime", "board", "kernels", "engine", "profile", "plan", "schedule",
        "analysis", "simulate", "explore", "workload", "runtime", "application", "codegen", "system", "deployment")
_VALUES = ("base", "network", "dataflow", "realtime", "board", "profile", "plan", "schedule", "system",
           "deployment", "analysis", "simulate", "workload")

MAY_USE = {
    "base": (),
    "network": ("base",),
    "formats": ("base", "network"),
    "dataflow": ("base",),
    "realtime": ("base",),
    "board": ("base",),
    "kernels": ("base",),
    "workload": ("base", "network", "board", "kernels"),
    "engine": ("base", "network", "formats", "board", "kernels", "workload", "millrace"),  # engine.h alone
    "profile": ("base", "network", "board", "engine"),
    "plan": ("base", "network", "formats", "dataflow", "board", "profile"),
    "schedule": ("base", "network", "dataflow", "plan", "system", "deployment"),
    "system": ("base", "network", "formats", "dataflow", "board"),
    "deployment": ("base", "network", "board", "plan", "realtime", "system"),
    "analysis": ("base", "network", "dataflow", "realtime", "board", "profile", "plan", "schedule", "system",
                 "deployment"),
    "simulate": ("base", "dataflow", "realtime", "board", "profile", "plan", "schedule", "system", "deployment"),
    "explore": ("base", "dataflow", "network", "formats", "realtime", "board", "profile", "plan", "schedule", "system",
                "deployment", "analysis", "simulate"),
    "runtime": ("base", "network", "realtime", "board", "engine", "workload", "profile", "plan", "schedule", "system",
                "deployment", "analysis", "simulate"),
    "application": ("base", "network", "formats", "board", "engine", "profile", "plan", "analysis", "runtime"),
    "codegen": ("base", "network", "board", "plan", "system", "deployment"),
    "product": _ALL,
    "present": _VALUES + ("formats", "explore", "runtime", "application", "product"),
    # Commands that are done on another board; the protocol itself uses base alone.
    "remote": ("base", "formats", "system", "deployment", "application", "product"),
    # A run seen from outside: over HTTP and MQTT, and by a service manager.
    "serve": ("base", "board", "runtime", "application", "present"),
    # Parses, calls one function of product, prints: nothing here measures, searches or runs.
    "cli": ("base", "network", "formats", "dataflow", "realtime", "board", "plan", "schedule", "system", "deployment",
            "analysis", "simulate", "application", "product", "present", "remote", "serve", "workload"),
    "millrace": (),  # include/millrace: the public interface
    "face": _ALL + ("product", "present", "millrace"),  # what stands behind it
}

# Rooms inside of rooms, and which of them each may use; what stands beside them may use none.
INSIDE = {
    "network": {"evaluate": (), "simplify": ("evaluate",)},
}


def room_of(path):
    """"engine" for src/engine/onednn/engine.cpp, "millrace" for include/millrace/plan.h, else nothing."""
    parts = path.split("/")
    if parts[0] not in ("src", "include") or len(parts) < 2:
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
    if target == room and room in INSIDE:
        return _complaint_inside(room, path, included)
    if target == room or target in MAY_USE[room]:
        return None
    if target not in MAY_USE:
        return f"\"{included}\" does not begin at a room under src/"
    return f"the room {room} may not use {target}"


def _complaint_inside(room, path, included):
    inner = INSIDE[room]
    here, there = path.split("/")[2], included.split("/")[1]
    if there not in inner or there == here or there in inner.get(here, ()):
        return None
    user = f"{room}/{here}" if here in inner else room
    return f"the room {user} may not use {room}/{there}"
