"""What the operating system says of the processor and of who used it."""
import os
import platform
import time

TELLING = ("avx2 avx512f avx512_vnni avx512_bf16 avx512_fp16 amx_tile amx_bf16 amx_int8 "
           "avx_vnni asimddp bf16 i8mm sve").split()
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def describe(cores):
    fields = {}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    flags = (fields.get("flags") or fields.get("Features") or "").split()
    return {"cpu": fields.get("model name", platform.machine()), "cores": cores,
            "features": [flag for flag in TELLING if flag in flags]}


def busy_seconds(cores):
    """Since the start of the machine: what these cores have worked, for whomever, and what the
    host of a virtual machine took from them."""
    names = {f"cpu{core}" for core in cores}
    total = 0
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            name, *ticks = line.split()
            if name in names:
                user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, ticks[:8])
                total += user + nice + system + irq + softirq + steal
    return total / TICKS_PER_SECOND


def process_seconds(pid):
    """What all threads of the process have worked since its start."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def now():
    return time.monotonic()
