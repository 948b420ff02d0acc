# cmake -D build=... -D source=... -D compiler=... -D launcher=... -P generated.cmake
# Programs that 'millrace export --format cpp' writes build without a warning where Millrace is
# installed, and give what 'millrace run' gives.
set(stage ${build}/generated_test)
set(millrace ${stage}/installed/bin/millrace)
file(REMOVE_RECURSE ${stage})
file(MAKE_DIRECTORY ${stage}/by_command ${stage}/by_program)
file(COPY ${source}/tests/support/chain/ ${source}/models/digits.onnx DESTINATION ${stage})
set(ENV{XDG_CACHE_HOME} ${stage}/cache)

function(run folder)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${stage}/${folder} RESULT_VARIABLE result
                  OUTPUT_VARIABLE text ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${result}:\n${text}\n${errors}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

# What keeps to times ends with 1 if the machine was busy elsewhere; then it may try again.
function(run_in_time folder results)
  foreach(attempt RANGE 1 3)
    file(REMOVE ${stage}/${folder}/${results})
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${stage}/${folder} RESULT_VARIABLE result
                    OUTPUT_VARIABLE text ERROR_VARIABLE errors)
    if(NOT result EQUAL 1)
      break()
    endif()
  endforeach()
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${result}:\n${text}\n${errors}")
  endif()
endfunction()

function(build_program name)
  run(. ${CMAKE_COMMAND} -S ${name} -B ${name}/build -G Ninja -D CMAKE_PREFIX_PATH=${stage}/installed
      -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher}
      -D CMAKE_CXX_FLAGS=-Werror)
  run(. ${CMAKE_COMMAND} --build ${name}/build)
  run(${name}/build ${CMAKE_CTEST_COMMAND} --output-on-failure)
endfunction()

function(expect_same what first second)
  if(first STREQUAL "" OR NOT first STREQUAL second)
    message(FATAL_ERROR "${what}: the command gives\n${first}\nand the program\n${second}")
  endif()
endfunction()

run(. ${CMAKE_COMMAND} --install ${build} --prefix ${stage}/installed)
run(. ${CMAKE_COMMAND} --install ${build} --prefix ${stage}/installed --component rooms)

# A plan, as it is and with simulated times.
run(. ${millrace} plan digits.onnx --measure 0 -o digits.plan.json)
run(. ${millrace} run digits.plan.json --random 30)
string(REGEX REPLACE "\"latency_ms\":[0-9.e+-]+" "" expected "${text}")
foreach(program plain timed)
  if(program STREQUAL timed)
    set(option --timed)
  endif()
  run(. ${millrace} export digits.plan.json --format cpp ${option} -o ${program})
  build_program(${program})
  run(. ${program}/build/${program} --random 30)
  string(REGEX REPLACE "\"latency_ms\":[0-9.e+-]+" "" found "${text}")
  expect_same("the plan, ${program}" "${expected}" "${found}")
endforeach()

# A deployment with tasks before and after a network. Runs end at other frames, so the first ones
# are compared.
run(. ${compiler} -std=c++20 -O2 -shared -fPIC -I${stage}/installed/include/millrace tasks.cpp
    -o tasks.so)
run(. ${millrace} deploy chain.yaml --samples 0 -o chain.deployment.json)
run_in_time(by_command digits.txt ${millrace} run ../chain.deployment.json --plugin ../tasks.so --duration 2s)
foreach(program chain chain_timed)
  if(program STREQUAL chain_timed)
    set(option --timed)
  else()
    set(option)
  endif()
  run(. ${millrace} export chain.deployment.json --format cpp ${option} -o ${program})
  build_program(${program})
  run_in_time(by_program digits.txt ${stage}/${program}/build/${program} 2)
  foreach(by by_command by_program)
    file(STRINGS ${stage}/${by}/digits.txt ${by} LIMIT_COUNT 120)
  endforeach()
  list(LENGTH by_program length)
  if(length LESS 120)
    message(FATAL_ERROR "${program} wrote ${length} digits, expected 120")
  endif()
  expect_same("the deployment, ${program}" "${by_command}" "${by_program}")
  file(REMOVE ${stage}/by_program/digits.txt)
endforeach()
message("generated programs give the same")
