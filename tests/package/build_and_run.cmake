# cmake -D build=... -D source=... -D compiler=... -D launcher=... -P build_and_run.cmake
set(stage ${build}/package_test)
file(REMOVE_RECURSE ${stage})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/consumer DESTINATION ${stage})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV} ended with ${result}:\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${stage}/installed)
# What is installed: the headers of include/millrace and of the two components, and no archive of
# another room.
file(GLOB_RECURSE headers RELATIVE ${stage}/installed/include/millrace ${stage}/installed/include/*.h)
list(FILTER headers EXCLUDE REGEX "^((base|dataflow|realtime)/.*|[a-z]+[.]h)$")
file(GLOB_RECURSE archives ${stage}/installed/*.a)
list(FILTER archives EXCLUDE REGEX "libmillrace_(base|dataflow|realtime).a$")
if(headers OR archives)
  message(FATAL_ERROR "the installation has ${headers} ${archives}")
endif()
run(${CMAKE_COMMAND} -S ${stage}/consumer -B ${stage}/build -G Ninja -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_PREFIX_PATH=${stage}/installed -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
run(${CMAKE_COMMAND} --build ${stage}/build)
# Plug-ins stand on rooms, which a usual installation leaves out.
run(${CMAKE_COMMAND} --install ${build} --prefix ${stage}/rooms)
run(${CMAKE_COMMAND} --install ${build} --prefix ${stage}/rooms --component rooms)
foreach(example hello plugin)
  set(place installed)
  if(example STREQUAL plugin)
    set(place rooms)
  endif()
  run(${CMAKE_COMMAND} -S ${source}/examples/${example} -B ${stage}/${example} -G Ninja
      -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${stage}/${place}
      -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
  run(${CMAKE_COMMAND} --build ${stage}/${example})
endforeach()
run(${stage}/hello/example_hello ${source}/models/digits.onnx ${source}/examples/hello/digits.txt)
file(READ ${source}/examples/hello/expected.txt expected)
if(NOT text STREQUAL expected)
  message(FATAL_ERROR "hello found:\n${text}")
endif()

# The components that need little, where nothing that they do not need can be found.
function(check_component name)
  set(hidden "")
  foreach(package nlohmann_json OpenMP PkgConfig Protobuf Threads ${ARGN})
    list(APPEND hidden -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
  endforeach()
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${name} -B ${stage}/${name} -G Ninja ${hidden}
      -D example=${source}/examples/${name}/main.cpp -D CMAKE_PREFIX_PATH=${stage}/installed
      -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
  run(${CMAKE_COMMAND} --build ${stage}/${name})
  run(${stage}/${name}/${name})
  file(READ ${source}/examples/${name}/expected.txt expected)
  if(NOT text STREQUAL expected)
    message(FATAL_ERROR "the example ${name} printed\n${text}")
  endif()
endfunction()
check_component(dataflow)
check_component(realtime pugixml)

# What pkg-config says is enough to link the same objects.
file(GLOB_RECURSE found ${stage}/installed/*/millrace.pc)
get_filename_component(folder ${found} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
function(link_with_pkg_config name object)
  execute_process(COMMAND pkg-config --libs ${name} OUTPUT_VARIABLE libraries
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(libraries UNIX_COMMAND "${libraries}")
  run(${compiler} ${object} ${libraries} -Wl,-rpath,${folder}/.. -o ${stage}/${name}_linked)
endfunction()
link_with_pkg_config(millrace ${stage}/build/CMakeFiles/consumer.dir/main.cpp.o)
run(${stage}/millrace_linked ${source}/models/digits.onnx ${source}/tests/package/consumer/digit.txt)
file(GLOB_RECURSE object ${stage}/dataflow/*main.cpp.o)
link_with_pkg_config(millrace-dataflow ${object})
run(${stage}/millrace-dataflow_linked)
file(GLOB_RECURSE object ${stage}/realtime/*main.cpp.o)
link_with_pkg_config(millrace-realtime ${object})
run(${stage}/millrace-realtime_linked)

run(${stage}/installed/bin/millrace run ${source}/examples/plugin/application.yaml
    --plugin ${stage}/plugin/brightness.so)
run(${stage}/build/consumer ${source}/models/digits.onnx ${source}/tests/package/consumer/digit.txt)
set(consumer "${text}")

# Without the library of codecs all works but pictures, and those say what is missing.
file(GLOB codecs ${stage}/installed/lib*/millrace/libmillrace_codecs.so
     ${stage}/installed/lib/*/millrace/libmillrace_codecs.so)
file(REMOVE ${codecs})
run(${stage}/installed/bin/millrace inspect ${source}/models/digits.onnx)
execute_process(COMMAND ${stage}/installed/bin/millrace run ${source}/models/digits.onnx
                        --input ${source}/models/digits_images
                RESULT_VARIABLE result ERROR_VARIABLE text OUTPUT_QUIET)
if(NOT result EQUAL 3 OR NOT text MATCHES "need libmillrace_codecs.so, which this installation lacks")
  message(FATAL_ERROR "without codecs it ended with ${result}:\n${text}")
endif()
message("${consumer}")
