# Builds for 64-bit ARM Linux (Raspberry Pi 5, Jetson, RK3588, i.MX8) on a machine of another kind.
#
#   cmake --preset release -B build/board -DMILLRACE_TESTS=OFF -DMILLRACE_BENCHMARKS=OFF \
#     --toolchain cmake/toolchains/aarch64-linux-gnu.cmake -DMILLRACE_SYSROOT=/path/to/sysroot
#
# The sysroot is a copy of the board's /usr/include, /usr/lib, /usr/share and /lib: the libraries to
# link with are the board's. docs/your-board.md says how to make one. Where QEMU's user mode is
# installed, ctest runs the tests in it; the variable QEMU_CPU chooses the processor.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc CACHE STRING "")
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++ CACHE STRING "")

set(MILLRACE_SYSROOT "" CACHE PATH "A copy of the board's file system")
if(NOT IS_DIRECTORY "${MILLRACE_SYSROOT}/usr/include")
  message(FATAL_ERROR "MILLRACE_SYSROOT is '${MILLRACE_SYSROOT}', but a folder with the board's "
          "usr/include and usr/lib is needed; docs/your-board.md says how to copy them")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MILLRACE_SYSROOT)
set(CMAKE_SYSROOT ${MILLRACE_SYSROOT})

# Libraries of the board's libraries, and what Debian's alternatives choose between.
foreach(folder lib usr/lib usr/lib/aarch64-linux-gnu/blas usr/lib/aarch64-linux-gnu/lapack
        usr/lib/aarch64-linux-gnu/pulseaudio)
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath-link,${MILLRACE_SYSROOT}/${folder}")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS_INIT " -Wl,-rpath-link,${MILLRACE_SYSROOT}/${folder}")
endforeach()

# Programs are this machine's; headers, libraries and packages are the board's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${MILLRACE_SYSROOT})
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR}
    ${MILLRACE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${MILLRACE_SYSROOT}/usr/lib/pkgconfig:${MILLRACE_SYSROOT}/usr/share/pkgconfig)

find_program(MILLRACE_QEMU qemu-aarch64)
if(MILLRACE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MILLRACE_QEMU} -L ${MILLRACE_SYSROOT})
endif()
