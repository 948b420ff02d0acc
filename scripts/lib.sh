# What scripts/test and scripts/demo share; sourced with the project's folder as the current one.

# Programs to look for, each with the package that brings it. A script may add what it alone needs,
# here and to the libraries.
programs=(g++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config python3:python3)
# Libraries that the build needs, by their names in Debian and Ubuntu.
libraries=(
  libfmt-dev nlohmann-json3-dev libprotobuf-dev libonnx-dev libdnnl-dev
  libxxhash-dev libcli11-dev libpugixml-dev libyaml-cpp-dev
)
# Pictures and videos; the build goes without them where they are missing.
media=(
  libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev libopencv-videoio-dev
  libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libjpeg-dev
)
for_tests=(libgtest-dev librapidcheck-dev libbenchmark-dev openmpi-bin libopenmpi-dev)
# Useful, and gone without where the distribution does not have them: a cache for the compiler,
# and ONNX's own test cases.
optional=(ccache libonnx-testdata)
# Likewise, for who tests: metrics, a live page, MQTT and the GStreamer element need them.
for_operations=(
  libcpp-httplib-dev libmosquitto-dev mosquitto mosquitto-clients
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-tools gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good python3-prometheus-client
)
# Of the build; given to CMake each time.
switches=()
readonly given_up=build/.packages_given_up

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

missing_packages() {
  local entry package
  for entry in "${programs[@]}"; do
    command -v "${entry%%:*}" >/dev/null || echo "${entry#*:}"
  done
  local installed
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' \
    "${libraries[@]}" "${optional[@]}" 2>/dev/null | grep '^installed ' || true)
  for package in "${libraries[@]}" "${optional[@]}"; do
    grep -qxF "installed $package" <<<"$installed" && continue
    grep -qxFs "$package" $given_up || echo "$package"
  done
}

is_optional() { [[ " ${optional[*]} " == *" $1 "* ]]; }

# Those of the packages that the lists at hand do not know.
unknown_packages() {
  local names package
  names=$(apt-cache pkgnames)
  for package in "$@"; do grep -qxF "$package" <<<"$names" || echo "$package"; done
}

apt_get() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=600 "$@" >&2
}

check_that_packages_can_be_installed() {
  local missing="$*"
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || fail \
    "This script gets its packages with apt-get, which this system does not have. Install the" \
    "equivalents of $missing by hand and build as CONTRIBUTING.md says."
  ((EUID == 0)) || command -v sudo >/dev/null || fail \
    "Packages are missing, and this script is neither run by root nor finds sudo. As root, run:" \
    "apt-get install $missing"
}

install() {
  local package known=()
  for package in "$@"; do
    if is_optional "$package" && [[ $(unknown_packages "$package") ]]; then
      say "This distribution has no package $package; going on without it."
      mkdir -p build && echo "$package" >>$given_up
    else
      known+=("$package")
    fi
  done
  ((${#known[@]} == 0)) || apt_get install --no-install-recommends "${known[@]}"
}

install_missing_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  check_that_packages_can_be_installed "${missing[@]}"
  say "Installing ${missing[*]}"
  # Lists at hand are good enough if they know every package and what they name is still there.
  if [[ -z $(unknown_packages "${missing[@]}") ]] && install "${missing[@]}"; then return 0; fi
  apt_get update && install "${missing[@]}" ||
    fail "The packages could not be installed; apt-get says why above."
}

# As many as there are cores, but no more than one for every 2 GiB: that is what a compiler takes.
default_jobs() {
  local cores memory_kib jobs
  cores=$(nproc)
  memory_kib=$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
  jobs=$((memory_kib / (2 * 1024 * 1024)))
  ((jobs < cores)) || jobs=$cores
  echo $((jobs > 1 ? jobs : 1))
}

# For CMake: the compiler's cache, if it is there. Without being told so, it keeps nothing that was
# compiled with precompiled headers.
with_cache() {
  ! command -v ccache >/dev/null ||
    echo "-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
}

# configure_and_build PRESET JOBS [TARGET...]: in build/PRESET.
configure_and_build() {
  local preset=$1 jobs=$2
  shift 2
  [[ -f build/$preset/build.ninja && ${#switches[@]} == 0 ]] ||
    cmake --preset "$preset" $(with_cache) "${switches[@]}" >&2
  cmake --build "build/$preset" --parallel "$jobs" ${@:+--target "$@"} >&2
}

# copy_python_headers PYTHON FOLDER: of a Python of this machine, for one on the other. In what modules see of it they are
# alike, but the distribution's pyconfig.h looks for that of the machine.
copy_python_headers() {
  rm -rf "$2"
  "$1" - "$2" <<'PY'
import shutil, sys, sysconfig
shutil.copytree(sysconfig.get_paths()["include"], sys.argv[1])
shutil.copy(sysconfig.get_config_h_filename(), sys.argv[1] + "/pyconfig.h")
PY
}
