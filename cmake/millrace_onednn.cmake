# oneDNN, the CPU kernels of the engine onednn. The installed package reads this file too. Found by
# hand: the package's own configuration asks for OpenCL's headers too.
find_library(MILLRACE_DNNL dnnl)
find_path(MILLRACE_DNNL_INCLUDE dnnl.hpp)
if(NOT MILLRACE_DNNL OR NOT MILLRACE_DNNL_INCLUDE)
  message(FATAL_ERROR "oneDNN is not found; install libdnnl-dev, name its folder in "
          "CMAKE_PREFIX_PATH, or build Millrace with -DMILLRACE_ENGINE_ONEDNN=OFF")
endif()
file(STRINGS ${MILLRACE_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h MILLRACE_DNNL_MAJOR
     REGEX "VERSION_MAJOR +[0-9]")
string(REGEX REPLACE ".*MAJOR +" "" MILLRACE_DNNL_MAJOR "${MILLRACE_DNNL_MAJOR}")
if(NOT MILLRACE_DNNL_MAJOR MATCHES "^[23]$")
  message(FATAL_ERROR "oneDNN in ${MILLRACE_DNNL_INCLUDE} is of version '${MILLRACE_DNNL_MAJOR}', "
          "but Millrace is written for 2 and 3; name the folder of such a version in CMAKE_PREFIX_PATH")
endif()
add_library(millrace_dnnl INTERFACE IMPORTED)
target_include_directories(millrace_dnnl SYSTEM INTERFACE ${MILLRACE_DNNL_INCLUDE})
target_link_libraries(millrace_dnnl INTERFACE ${MILLRACE_DNNL})
