# What the library stands on: packages of the distribution. Each line says what it is for. The
# installed package reads this file too, after millrace_dataflow_dependencies.cmake.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json REQUIRED)                     # profiles, plans, traces
find_package(Protobuf REQUIRED)                          # ONNX files
find_package(OpenMP)                                     # the threads that oneDNN has
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)  # identity of networks
pkg_check_modules(yaml_cpp REQUIRED IMPORTED_TARGET yaml-cpp)  # board files

if(MILLRACE_ENGINE_ONEDNN)
  include(${CMAKE_CURRENT_LIST_DIR}/millrace_onednn.cmake)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/millrace_media.cmake)

# ONNX's schema: the generated message classes in libonnx_proto.
find_library(MILLRACE_ONNX_PROTO onnx_proto REQUIRED)
find_path(MILLRACE_ONNX_INCLUDE onnx/onnx-ml.pb.h REQUIRED)
add_library(millrace_onnx_schema INTERFACE IMPORTED)
target_include_directories(millrace_onnx_schema SYSTEM INTERFACE ${MILLRACE_ONNX_INCLUDE})
target_compile_definitions(millrace_onnx_schema INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(millrace_onnx_schema INTERFACE ${MILLRACE_ONNX_PROTO} protobuf::libprotobuf)
