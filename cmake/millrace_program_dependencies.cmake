# What only the command, the library of codecs, the tests and the benchmarks need.
find_package(CLI11 REQUIRED)  # command line
if(MILLRACE_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  include(GoogleTest)
endif()
if(MILLRACE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
