# A room is one folder under src/, one namespace, one library and one test folder.
include(GNUInstallDirs)

# Compiler settings of our own code, and of nothing that includes it.
add_library(millrace_settings INTERFACE)
target_compile_features(millrace_settings INTERFACE cxx_std_20)
target_link_libraries(millrace_settings INTERFACE fmt::fmt nlohmann_json::nlohmann_json)
target_compile_options(millrace_settings INTERFACE -Wall -Wextra -Wconversion
                       $<$<BOOL:${MILLRACE_WERROR}>:-Werror>)
# What these find depends on the optimiser; from g++ 12 on they are at times wrong.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  foreach(warning array-bounds stringop-overflow stringop-overread maybe-uninitialized restrict)
    target_compile_options(millrace_settings INTERFACE -Wno-error=${warning})
  endforeach()
endif()
# What is local to a file seems to be everybody's where files are compiled together.
target_compile_options(millrace_settings INTERFACE
  $<IF:$<BOOL:${CMAKE_UNITY_BUILD}>,$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>)
if(MILLRACE_SANITIZE)
  target_compile_options(millrace_settings INTERFACE -fsanitize=${MILLRACE_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(millrace_settings INTERFACE -fsanitize=${MILLRACE_SANITIZE})
  # Their dlopen calls the system's, which then looks in the program's RPATH alone.
  target_link_options(millrace_settings INTERFACE -Wl,--disable-new-dtags)
endif()
# How many times as long tests may take: instrumented and emulated code is slow.
set(MILLRACE_SLOWDOWN 1)
if(MILLRACE_SANITIZE)
  set(MILLRACE_SLOWDOWN 8)
elseif(CMAKE_CROSSCOMPILING)
  set(MILLRACE_SLOWDOWN 20)
endif()
if(MILLRACE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "MILLRACE_FUZZ needs clang, whose libFuzzer it uses, but the compiler is "
            "${CMAKE_CXX_COMPILER_ID}; give -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(millrace_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# precompile_headers(TARGET [FROM target] [HEADERS header...]): the standard's and fmt's headers that
# most files include, and these, are parsed once for all of the target's files; FROM: or shared with
# another target whose compiler options are the same. Only in Release: the other builds show whether
# each file includes what it uses.
option(MILLRACE_PRECOMPILE "Parse the headers of others once in Release builds" ON)
function(precompile_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 with "" "FROM" "HEADERS")
  if(NOT MILLRACE_PRECOMPILE OR MILLRACE_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  if(with_FROM)
    target_precompile_headers(${target} REUSE_FROM ${with_FROM})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex>
    <numeric> <optional> <set> <span> <string> <string_view> <thread> <variant> <vector>
    <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> ${with_HEADERS})
endfunction()

# add_room(NAME SOURCES file... [USES room...] [LIBRARIES target...] [PRECOMPILE header...])
# makes the library millrace_NAME, known as millrace::NAME; "/" in NAME becomes "_". PRECOMPILE: for
# a room with headers, or compiler options, of its own.
function(add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;USES;LIBRARIES;PRECOMPILE")
  string(REPLACE "/" "_" id ${name})
  add_library(millrace_${id} STATIC ${room_SOURCES})
  add_library(millrace::${id} ALIAS millrace_${id})
  target_include_directories(millrace_${id} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/millrace>)
  list(TRANSFORM room_USES REPLACE "/" "_")
  list(TRANSFORM room_USES PREPEND millrace_)
  target_link_libraries(millrace_${id} PUBLIC ${room_USES}
                        PRIVATE $<BUILD_INTERFACE:millrace_settings> ${room_LIBRARIES})
  target_compile_features(millrace_${id} PUBLIC cxx_std_20)
  set_target_properties(millrace_${id} PROPERTIES EXPORT_NAME ${id}
                        POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY MILLRACE_ROOMS millrace_${id})
  if(room_PRECOMPILE)
    precompile_headers(millrace_${id} HEADERS ${room_PRECOMPILE})
  elseif(NOT name STREQUAL "base")
    precompile_headers(millrace_${id} FROM millrace_base)
  else()
    precompile_headers(millrace_${id})
  endif()
endfunction()

# add_kernels_hash(ENGINE FOLDER...): the header engine/ENGINE/kernels_hash.h for this engine, with the
# hash of the sources under these folders of src as kernels_hash. So what was measured with other
# kernels is measured again, and nobody has to think of it.
function(add_kernels_hash engine)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(header ${folder}/engine/${engine}/kernels_hash.h)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE folders)
  set(script ${PROJECT_SOURCE_DIR}/cmake/hash_sources.cmake)
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${header} -D DEPFILE=${header}.d -D NAME=kernels_hash
            -D NAMESPACE=millrace::engine::${engine} -D "FOLDERS=${folders}" -P ${script}
    DEPENDS ${script} DEPFILE ${header}.d VERBATIM)
  target_sources(millrace_engine_${engine} PRIVATE ${header})
  target_include_directories(millrace_engine_${engine} PRIVATE $<BUILD_INTERFACE:${folder}>)
endfunction()

# add_room_tests(NAME SOURCES file... [USES room...] [LIBRARIES target...] [LABEL label]
#                [TIMEOUT seconds] [SERIAL])
# makes one test program of the room's test folder; every test in it is a ctest test, with the label,
# or else the room's name. SERIAL: beside no other test, because it measures time.
function(add_room_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 test "SERIAL" "TIMEOUT;LABEL" "SOURCES;USES;LIBRARIES")
  string(REPLACE "/" "_" id ${name})
  add_executable(millrace_${id}_tests ${test_SOURCES})
  list(TRANSFORM test_USES REPLACE "/" "_")
  list(TRANSFORM test_USES PREPEND millrace_)
  target_link_libraries(millrace_${id}_tests PRIVATE ${test_USES} millrace_test_support
                        millrace_settings GTest::gtest_main ${test_LIBRARIES})
  precompile_headers(millrace_${id}_tests FROM millrace_test_networks)
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  math(EXPR test_TIMEOUT "${MILLRACE_SLOWDOWN} * ${test_TIMEOUT}")
  if(NOT test_LABEL)  # one only: a list falls apart on its way to the properties of the tests
    set(test_LABEL ${id})
  endif()
  gtest_discover_tests(millrace_${id}_tests TEST_PREFIX "${id}." DISCOVERY_MODE PRE_TEST
                       NO_PRETTY_TYPES NO_PRETTY_VALUES
                       PROPERTIES TIMEOUT ${test_TIMEOUT} LABELS ${test_LABEL}
                       RUN_SERIAL ${test_SERIAL})
endfunction()
