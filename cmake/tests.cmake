# Every folder tests/<dir> with *_test.cpp is one program, tests_<dir>; every gtest in it one ctest.
# Names and labels follow from suite names alone: see discover_tests.cmake.
if(NOT SYMBIND_TESTS)
  return()
endif()
enable_testing()

# tests_support: the harness shared by all test folders.
file(GLOB_RECURSE support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
if(support_sources)
  add_library(tests_support STATIC ${support_sources})
  set(support_scope PUBLIC)
else()
  add_library(tests_support INTERFACE)
  set(support_scope INTERFACE)
endif()
target_include_directories(tests_support ${support_scope}
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/support/source_path.cpp" PROPERTIES
    COMPILE_DEFINITIONS "SYMBIND_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
target_link_libraries(tests_support ${support_scope}
    symbind symbind_internal GTest::gtest GTest::gmock ZLIB::ZLIB Threads::Threads)
# The code of the tests themselves is not hot, and there is as much of it as of the library.
target_compile_options(tests_support ${support_scope} $<$<CONFIG:Release>:-O1>)
target_include_directories(tests_support SYSTEM ${support_scope} "${SYMBIND_RANDOM123_INCLUDE}")

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests"
     "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")
set(test_folders "")
foreach(source IN LISTS test_sources)
  string(REGEX REPLACE "/.*" "" folder "${source}")
  list(APPEND test_folders "${folder}")
endforeach()
list(REMOVE_DUPLICATES test_folders)
if(NOT SYMBIND_HAVE_DIST)
  list(REMOVE_ITEM test_folders dist)  # jobs of several processes
endif()

foreach(folder IN LISTS test_folders)
  # The other .cpp files of a test folder are its helpers.
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp")
  if(NOT SYMBIND_HAVE_DIST)  # tests of the plugin's sources
    list(FILTER sources EXCLUDE REGEX "tests/net/tcp/")
  endif()
  add_executable(tests_${folder} ${sources})
  target_link_libraries(tests_${folder} PRIVATE tests_support GTest::gtest_main)
  if(folder MATCHES "^(net|dist)$" AND TARGET symbind_tcp)
    target_link_libraries(tests_${folder} PRIVATE symbind_tcp)
  endif()
  symbind_unity(tests_${folder} 8 ${sources})
  # The first program compiles the headers of all.
  if(NOT TARGET "${precompiled}")
    set(precompiled tests_${folder})
    target_precompile_headers(tests_${folder} PRIVATE
        <gmock/gmock.h> <gtest/gtest.h> <symbind/symbind.h> "${PROJECT_SOURCE_DIR}/tests/support/op_case.h")
  else()
    target_precompile_headers(tests_${folder} REUSE_FROM ${precompiled})
  endif()
  set(ctest_file "${PROJECT_BINARY_DIR}/ctest/${folder}.cmake")
  add_custom_command(TARGET tests_${folder} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:tests_${folder}>" -D "FOLDER=${folder}"
              -D "OUTPUT=${ctest_file}" -D "SOURCE_DIR=${PROJECT_SOURCE_DIR}"
              -P "${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake"
      VERBATIM)
  # ctest reads this at its start: a program that was not built shows as one failing test.
  set(include_file "${PROJECT_BINARY_DIR}/ctest/${folder}_include.cmake")
  file(CONFIGURE OUTPUT "${include_file}" @ONLY CONTENT
"if(EXISTS [==[@ctest_file@]==])
  include([==[@ctest_file@]==])
else()
  add_test([==[tests_@folder@.not_built]==] [==[tests_@folder@.not_built]==])
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endforeach()

# tests_lookups also counts allocations, unless a sanitizer replaces malloc.
if(TARGET tests_lookups AND NOT SYMBIND_SANITIZE)
  target_sources(tests_lookups PRIVATE "${PROJECT_SOURCE_DIR}/benchmarks/support/heap_watch.cpp")
  target_compile_definitions(tests_lookups PRIVATE SYMBIND_WATCHES_HEAP=1)
endif()

function(symbind_script_test name labels)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 600
      SKIP_RETURN_CODE 77 ENVIRONMENT "OMP_NUM_THREADS=1")
endfunction()

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  symbind_script_test(check_layers unit "${Python3_EXECUTABLE}" tools/check_layers.py)
  symbind_script_test(check_layers.self_test unit
      "${Python3_EXECUTABLE}" tools/check_layers.py --self-test)
  # Finds stale faults, whose text is no longer in the sources. tools/mutate itself is run by hand.
  symbind_script_test(mutate.table unit "${Python3_EXECUTABLE}" tools/mutate --check)
  symbind_script_test(check_words unit "${Python3_EXECUTABLE}" tools/check_words)
  symbind_script_test(check_words.self_test unit
      "${Python3_EXECUTABLE}" tools/check_words --self-test)
  symbind_script_test(check_links unit "${Python3_EXECUTABLE}" tools/check_links)
  symbind_script_test(check_links.self_test unit
      "${Python3_EXECUTABLE}" tools/check_links --self-test)
  # Skipped until tools/site has installed MkDocs.
  symbind_script_test(site slow "${Python3_EXECUTABLE}" tools/site --no-install)
  symbind_script_test(check_size unit "${Python3_EXECUTABLE}" tools/check_size.py)
  # The documents: files and their lengths, names of tests, the README's program.
  symbind_script_test(walk.files unit "${Python3_EXECUTABLE}" tools/check_walk.py files)
  symbind_script_test(walk.step_files slow "${Python3_EXECUTABLE}" tools/step_files --check)
  set_tests_properties(walk.step_files PROPERTIES TIMEOUT 3600)
  symbind_script_test(contract.tests unit
      "${Python3_EXECUTABLE}" tools/check_walk.py tests "${PROJECT_BINARY_DIR}")
  symbind_script_test(readme.program unit "${Python3_EXECUTABLE}" tools/check_walk.py program)
  symbind_script_test(docs.snippets unit "${Python3_EXECUTABLE}" tools/check_walk.py snippets)
endif()
symbind_script_test(clang_format unit "${PROJECT_SOURCE_DIR}/tools/format" --check)
if(TARGET opgen)
  symbind_script_test(opgen.drift unit opgen --check)
  symbind_script_test(exchange.replay golden exchange_tool check tests/golden/exchange)
endif()
symbind_script_test(install.consumer install "${CMAKE_COMMAND}" -D "BUILD_DIR=${PROJECT_BINARY_DIR}"
    -D "SOURCE_DIR=${PROJECT_SOURCE_DIR}" -D "CXX_COMPILER=${CMAKE_CXX_COMPILER}"
    -D "SANITIZE=${SYMBIND_SANITIZE}" -D "VERSION=${PROJECT_VERSION}"
    -P "${PROJECT_SOURCE_DIR}/tests/install/consumer.cmake")

# The suite as it runs on an older CPU: every test except the slow ones, with oneDNN, OpenBLAS and our
# kernels limited to these instruction sets.
foreach(held "avx2:AVX2:Haswell" "sse41:SSE41:Nehalem")
  string(REPLACE ":" ";" held "${held}")
  list(GET held 0 name)
  list(GET held 1 isa)
  list(GET held 2 core)
  add_test(NAME suite.${name} COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${PROJECT_BINARY_DIR}"
      -LE "^slow$" -j2 --output-on-failure --output-log "${PROJECT_BINARY_DIR}/ctest_${name}.log")
  set_tests_properties(suite.${name} PROPERTIES LABELS slow TIMEOUT 3600 RUN_SERIAL ON
      ENVIRONMENT "ONEDNN_MAX_CPU_ISA=${isa};OPENBLAS_CORETYPE=${core}")
endforeach()

# An example whose first lines say `// ctest: run [label] [arguments...]` is a test as well.
foreach(source IN LISTS SYMBIND_EXAMPLES)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(STRINGS "${source}" marks REGEX "^// ctest: run" LIMIT_COUNT 1 LIMIT_INPUT 4096)
  if(marks)
    cmake_path(GET source STEM LAST_ONLY stem)
    string(REGEX REPLACE "^// ctest: run *" "" words "${marks}")
    separate_arguments(words UNIX_COMMAND "${words}")
    set(label unit)
    if(words)
      list(POP_FRONT words label)
    endif()
    symbind_script_test(example.${stem} ${label} $<TARGET_FILE:example_${stem}> ${words})
  endif()
endforeach()

# tests/python: one ctest per file, python.<stem>; what is marked slow is python.<stem>.slow. Tests of the
# launcher and of the distributed stores have the label dist as well.
if(SYMBIND_HAVE_PYTHON)
  # Compiled modules are kept in the build, whatever the caller's setting: a job starts many interpreters.
  set(python_environment "OMP_NUM_THREADS=1;PYTHONPATH=${PROJECT_BINARY_DIR}/python"
      "PYTHONDONTWRITEBYTECODE=;PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache")
  if(SYMBIND_SANITIZE MATCHES "address")
    # The interpreter is built without the sanitizer, so LD_PRELOAD loads the sanitizer's library first,
    # then libstdc++, whose exceptions it wraps. The interpreter never frees some memory: no leak check.
    # It checks what sendmsg reads after the call has returned, when the memory may be free: no such check.
    foreach(library asan stdc++)
      execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=lib${library}.so
          OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE path_${library})
    endforeach()
    list(APPEND python_environment "LD_PRELOAD=${path_asan}:${path_stdc++}"
        "ASAN_OPTIONS=detect_leaks=0:intercept_send=0")
  endif()
  file(GLOB python_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/python/test_*.py")
  find_program(SYMBIND_BROWSER NAMES chromium chromium-browser google-chrome)
  if(NOT SYMBIND_BROWSER)
    message(STATUS "Chromium was not found: tests that open a page in it are skipped")
    list(FILTER python_tests EXCLUDE REGEX "test_[a-z_]*_page\\.py$")
  endif()
  if(NOT SYMBIND_HAVE_DIST)
    list(FILTER python_tests EXCLUDE REGEX "test_dist_[a-z_]*\\.py$")
  endif()
  foreach(source IN LISTS python_tests)
    cmake_path(GET source STEM LAST_ONLY stem)
    string(REGEX REPLACE "^test_" "" stem "${stem}")
    set(pytest "${Python_EXECUTABLE}" -m pytest -q --no-header "${source}")
    set(labels python)
    if(stem MATCHES "^(dist|launch)")
      list(APPEND labels dist)
    endif()
    symbind_script_test(python.${stem} "${labels}" ${pytest} -m "not slow")
    set_tests_properties(python.${stem} PROPERTIES ENVIRONMENT "${python_environment}")
    file(STRINGS "${source}" slow REGEX "mark\\.slow" LIMIT_COUNT 1)
    if(slow)
      symbind_script_test(python.${stem}.slow slow ${pytest} -m slow)
      set_tests_properties(python.${stem}.slow PROPERTIES
          ENVIRONMENT "${python_environment}" TIMEOUT 3600)
    endif()
  endforeach()
  # A wheel is made for the Python of the tests, then checked in an environment without this build.
  set(make_wheel tools/wheel --python "${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}"
      --out "${PROJECT_BINARY_DIR}/dist")
  symbind_script_test(wheel.make slow "${Python3_EXECUTABLE}" ${make_wheel})
  symbind_script_test(wheel.check slow "${Python3_EXECUTABLE}" ${make_wheel} --check)
  set_tests_properties(wheel.make PROPERTIES FIXTURES_SETUP wheel TIMEOUT 3600)
  set_tests_properties(wheel.check PROPERTIES FIXTURES_REQUIRED wheel)
  if(SYMBIND_MXNET_SOURCE)
    symbind_script_test(python.run_examples.slow slow "${Python_EXECUTABLE}"
        "${PROJECT_SOURCE_DIR}/tests/python/run_examples" --source "${SYMBIND_MXNET_SOURCE}")
    set_tests_properties(python.run_examples.slow PROPERTIES
        ENVIRONMENT "${python_environment}" TIMEOUT 3600)
  endif()
endif()
