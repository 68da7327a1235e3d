# Lists the tests of a gtest program and writes them as a ctest file. Runs after every link.
# Needs PROGRAM, FOLDER, OUTPUT, SOURCE_DIR.
#
#   name:   Suite.test; a test of suite Contract has its bare name (S24 ... S50).
#   label:  by the suite's name: BadInput* bad_input, Threads* threads, Golden* golden, Slow* slow,
#           Cuda* cuda; else ops in the folder ops, dist in the folder dist; else unit.

set(ENV{OMP_NUM_THREADS} 1)
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests
    OUTPUT_VARIABLE listing RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  file(REMOVE "${OUTPUT}")
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests failed (${status}):\n${listing}${errors}")
endif()

string(REGEX REPLACE "  # TypeParam = [^\n]*" "@typed" listing "${listing}")
string(REGEX REPLACE "  # GetParam\\(\\) = [^\n]*" "" listing "${listing}")
string(REPLACE ";" "" listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")

set(content "# Written by cmake/discover_tests.cmake.\n")
set(suite "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.(@typed)?$")
    set(suite "${CMAKE_MATCH_1}")
    # What the author called the suite: without the type's index and the instantiation's name.
    set(plain "${suite}")
    if(CMAKE_MATCH_2)
      string(REGEX REPLACE "/[^/]*$" "" plain "${plain}")
    endif()
    string(REGEX REPLACE "^.*/" "" plain "${plain}")
    set(threads "OMP_NUM_THREADS=1")
    set(timeout 120)
    if(plain MATCHES "^BadInput")
      set(label bad_input)
    elseif(plain MATCHES "^Threads")
      set(label threads)
      set(threads "OMP_NUM_THREADS=2")
    elseif(plain MATCHES "^Golden")
      set(label golden)
    elseif(plain MATCHES "^Slow")
      set(label slow)
      set(timeout 1800)
    elseif(plain MATCHES "^Cuda")
      set(label cuda)
    elseif(FOLDER MATCHES "^(ops|dist)$")
      set(label ${FOLDER})
    else()
      set(label unit)
    endif()
  elseif(line MATCHES "^  ([^ ]+)$")
    set(test "${CMAKE_MATCH_1}")
    if(plain STREQUAL "Contract")
      set(name "${test}")
    else()
      set(name "${suite}.${test}")
    endif()
    string(APPEND content
        "add_test([==[${name}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.${test}]==]"
        " --gtest_also_run_disabled_tests)\n"
        "set_tests_properties([==[${name}]==] PROPERTIES LABELS ${label} TIMEOUT ${timeout}"
        " ENVIRONMENT [==[${threads}]==] WORKING_DIRECTORY [==[${SOURCE_DIR}]==]"
        " SKIP_REGULAR_EXPRESSION [==[\\[  SKIPPED \\]]==]")
    if(test MATCHES "^DISABLED_" OR suite MATCHES "DISABLED_")
      string(APPEND content " DISABLED TRUE")
    endif()
    string(APPEND content ")\n")
  elseif(NOT line STREQUAL "" AND NOT line MATCHES "^Running main")
    message(WARNING "${PROGRAM}: cannot read the test listing's line '${line}'")
  endif()
endforeach()
file(WRITE "${OUTPUT}" "${content}")
