#!/usr/bin/env python3
"""Makes one wheel of those in OUT/modules: all modules, the command, and the libraries that they need.

  pack_wheel.py PREFIX OUT ARCH [SYSROOT]    PREFIX: where Millrace is installed
                                             SYSROOT: where libraries are, if not of this machine

Libraries of the C and C++ compilers stay outside: programs have one of each. All others lie in
millrace/lib and find each other there.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import zipfile

SYSTEM = re.compile(r"^(ld-linux.*|linux-vdso|lib(c|m|pthread|dl|rt|util|resolv|stdc\+\+|gcc_s))\.so")
MOST_BYTES = 40_000_000
# OpenCV's core asks a display for three functions that nothing here calls. With these in their place, the libraries of a
# display stay outside. The name is our own: the program's real libGLX may be loaded as well.
DISPLAY, NO_DISPLAY = "libGLX.so.0", "libmillrace_no_display.so"
NO_DISPLAY_CODE = "".join(f"void* {name}(void) {{ return 0; }}\n" for name in (
    "glXGetCurrentContext", "glXGetCurrentDisplay", "glXGetProcAddressARB"))


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def folders_of_libraries(arch, sysroot, prefix):
    """Where the loader would look, in order."""
    below = ["usr/lib/" + arch + "-linux-gnu", "lib/" + arch + "-linux-gnu", "usr/lib", "lib"]
    of_alternatives = [os.path.join(below[0], name) for name in ("blas", "lapack")]
    return ([os.path.dirname(path) for path in glob.glob(os.path.join(prefix, "lib*", "**", "libmillrace.so.1"),
                                                         recursive=True)]
            + [os.path.join(sysroot, each) for each in below + of_alternatives])


def needed(path, folders):
    """{name: path} of all libraries that the file needs, directly or not."""
    found, waiting = {}, [path]
    while waiting:
        for name in re.findall(r"\(NEEDED\)[^[]*\[(.*)\]", output_of("readelf", "-d", waiting.pop())):
            if name in found or name == DISPLAY or SYSTEM.match(name):
                continue
            there = [os.path.join(each, name) for each in folders if os.path.exists(os.path.join(each, name))]
            if not there:
                sys.exit(f"{path}: needs {name}, which is in none of {', '.join(folders)}")
            found[name] = there[0]
            waiting.append(there[0])
    return found


def newest_glibc(files):
    """(2, 36): the newest version of the C library that a symbol asks for."""
    versions = {(0, 0)}
    for path in files:
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", output_of("readelf", "-VW", path)):
            versions.add(tuple(map(int, version)))
    return max(versions)


def stub_of(out):
    """Types of the module, which a build for this machine has written; they are the same for all."""
    for place in (out, os.path.join(os.path.dirname(out), "wheel")):
        for wheel in glob.glob(os.path.join(place, "modules", "*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                if "millrace/_core.pyi" in archive.namelist():
                    return archive.read("millrace/_core.pyi")
    return b""


def main():
    prefix, out, arch = sys.argv[1:4]
    sysroot = sys.argv[4] if len(sys.argv) > 4 else "/"
    tool = "" if arch == os.uname().machine else arch + "-linux-gnu-"
    folders = folders_of_libraries(arch, sysroot, prefix)
    wheels = sorted(glob.glob(os.path.join(out, "modules", "*.whl")))
    tree = os.path.join(out, "tree")
    shutil.rmtree(tree, ignore_errors=True)
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(tree)
    package = os.path.join(tree, "millrace")
    libraries, programs = os.path.join(package, "lib"), os.path.join(package, "bin")
    os.makedirs(libraries)
    os.makedirs(programs)
    command = os.path.join(programs, "millrace")
    shutil.copy(os.path.join(prefix, "bin", "millrace"), command)
    library = glob.glob(os.path.join(prefix, "lib*", "**", "libmillrace.so.1"), recursive=True)[0]
    for source in (library, os.path.join(prefix, "bin", "millrace")):
        for name, path in needed(source, folders).items():
            shutil.copy(path, os.path.join(libraries, name))
    with open(os.path.join(package, "_core.pyi"), "wb") as file:
        file.write(stub_of(out))
    shutil.copy(library, os.path.join(libraries, "libmillrace.so.1"))
    leave_display_outside(libraries, tool)
    modules = glob.glob(os.path.join(package, "_core*.so"))
    shared = [os.path.join(libraries, name) for name in os.listdir(libraries)]
    pack_engines(prefix, libraries)
    for path in shared + modules + [command]:
        os.chmod(path, 0o755)
        subprocess.run([tool + "strip", "--strip-unneeded", path], check=True)
        where = {libraries: "$ORIGIN", package: "$ORIGIN/lib", programs: "$ORIGIN/../lib"}
        subprocess.run(["patchelf", "--set-rpath", where[os.path.dirname(path)], path], check=True)
    write(tree, out, wheels, modules, newest_glibc(shared + modules + [command]), arch)


def leave_display_outside(libraries, tool):
    """Only what takes nothing else from it; another function would be missing when the library is loaded."""
    asking = [path for path in glob.glob(os.path.join(libraries, "*.so*"))
              if f"[{DISPLAY}]" in output_of("readelf", "-d", path)]
    for path in asking:
        wanted = set(re.findall(r"UND (glX\w+)", output_of("readelf", "--dyn-syms", "-W", path)))
        if not wanted <= set(re.findall(r"glX\w+", NO_DISPLAY_CODE)):
            sys.exit(f"{path}: needs more of {DISPLAY} than is known: {', '.join(sorted(wanted))}")
        os.chmod(path, 0o755)
        subprocess.run(["patchelf", "--replace-needed", DISPLAY, NO_DISPLAY, path], check=True)
    if asking:
        subprocess.run([tool + "gcc", "-x", "c", "-", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{NO_DISPLAY}", "-o",
                        os.path.join(libraries, NO_DISPLAY)], input=NO_DISPLAY_CODE, text=True, check=True)


def pack_engines(prefix, libraries):
    """Plug-ins, where the library and the command look for them. They need the system's libraries alone."""
    folder = os.path.join(libraries, "millrace", "engines")
    os.makedirs(folder)
    for path in glob.glob(os.path.join(prefix, "lib*", "**", "millrace", "engines", "*.so"), recursive=True):
        shutil.copy(path, folder)


def compress(wheel):
    """More tightly than `wheel` does: a hundredth."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for info, content in files:
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 9)


def write(tree, out, wheels, modules, glibc, machine):
    """Tags: what every module's Python takes, and the C library."""
    tags = {os.path.basename(wheel).split("-")[2] for wheel in wheels}
    whole = {"cp39", "cp310", "cp311", "cp312"} <= tags
    python = "py3" if whole else ".".join(sorted(tags, key=lambda tag: int(tag[3:])))
    abi = "none" if whole or len(tags) > 1 else os.path.basename(wheels[0]).split("-")[3]
    if not whole and len(tags) > 1 and "cp312" in tags:
        abi = "none.abi3"  # of 3.12: later ones take "abi3" only
    tag = f"{python}-{abi}-manylinux_{glibc[0]}_{glibc[1]}_{machine}"
    info = glob.glob(os.path.join(tree, "*.dist-info"))[0]
    with open(os.path.join(info, "WHEEL"), "w") as file:
        file.write("Wheel-Version: 1.0\nGenerator: millrace\nRoot-Is-Purelib: false\n")
        for each in python.split("."):
            for of_abi in abi.split("."):
                file.write(f"Tag: {each}-{of_abi}-{tag.split('-')[2]}\n")
    for old in glob.glob(os.path.join(out, "*.whl")):
        os.remove(old)
    subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", out, tree], check=True)
    [made] = glob.glob(os.path.join(out, "*.whl"))
    compress(made)
    size = os.path.getsize(made)
    print(f"{made}: {size / 1e6:.1f} MB, {len(modules)} modules")
    if size > MOST_BYTES:
        sys.exit(f"{made}: is larger than {MOST_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
