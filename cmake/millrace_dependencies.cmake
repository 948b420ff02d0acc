# What the library stands on: packages of the distribution. Each line says what it is for. The
# installed package reads this file too.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)                               # text
find_package(nlohmann_json REQUIRED)                     # profiles, plans, traces
find_package(Protobuf REQUIRED)                          # ONNX files
find_package(pugixml REQUIRED)                           # SDF3 files
find_package(pagmo REQUIRED)                             # genetic search
find_package(OpenMP)                                     # the threads that oneDNN has
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)  # cores and caches
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)  # identity of networks
pkg_check_modules(yaml_cpp REQUIRED IMPORTED_TARGET yaml-cpp)  # board files
pkg_check_modules(ffmpeg REQUIRED IMPORTED_TARGET
                  libavformat>=59 libavcodec>=59 libavutil libswscale)  # videos
pkg_check_modules(libconfigpp REQUIRED IMPORTED_TARGET libconfig++)  # JEDI's configurations

# CPU kernels. Found by hand: the package's own configuration asks for OpenCL's headers too.
find_library(MILLRACE_DNNL dnnl REQUIRED)
find_path(MILLRACE_DNNL_INCLUDE dnnl.hpp REQUIRED)
file(STRINGS ${MILLRACE_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h MILLRACE_DNNL_MAJOR
     REGEX "VERSION_MAJOR +[0-9]")
string(REGEX REPLACE ".*MAJOR +" "" MILLRACE_DNNL_MAJOR "${MILLRACE_DNNL_MAJOR}")
if(NOT MILLRACE_DNNL_MAJOR MATCHES "^[23]$")
  message(FATAL_ERROR "oneDNN in ${MILLRACE_DNNL_INCLUDE} is of version '${MILLRACE_DNNL_MAJOR}', "
          "but Millrace is written for 2 and 3; give another in CMAKE_PREFIX_PATH")
endif()
add_library(millrace_dnnl INTERFACE IMPORTED)
target_include_directories(millrace_dnnl SYSTEM INTERFACE ${MILLRACE_DNNL_INCLUDE})
target_link_libraries(millrace_dnnl INTERFACE ${MILLRACE_DNNL})

# Images and videos. Found by hand: the configuration file comes only with all of OpenCV.
find_path(MILLRACE_OPENCV_INCLUDE opencv2/imgcodecs.hpp PATH_SUFFIXES opencv4 REQUIRED)
add_library(millrace_opencv INTERFACE IMPORTED)
target_include_directories(millrace_opencv SYSTEM INTERFACE ${MILLRACE_OPENCV_INCLUDE})
foreach(module core imgproc imgcodecs videoio)
  find_library(MILLRACE_OPENCV_${module} opencv_${module} REQUIRED)
endforeach()
target_link_libraries(millrace_opencv INTERFACE ${MILLRACE_OPENCV_core} ${MILLRACE_OPENCV_imgproc})

# ONNX's schema: the generated message classes in libonnx_proto.
find_library(MILLRACE_ONNX_PROTO onnx_proto REQUIRED)
find_path(MILLRACE_ONNX_INCLUDE onnx/onnx-ml.pb.h REQUIRED)
add_library(millrace_onnx_schema INTERFACE IMPORTED)
target_include_directories(millrace_onnx_schema SYSTEM INTERFACE ${MILLRACE_ONNX_INCLUDE})
target_compile_definitions(millrace_onnx_schema INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(millrace_onnx_schema INTERFACE ${MILLRACE_ONNX_PROTO} protobuf::libprotobuf)
