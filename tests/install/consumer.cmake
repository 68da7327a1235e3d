# Installs the build into an empty folder, builds and runs examples/consumer against that copy (find_package), and
# by pkg-config a C program of the C predict API, whose output must be Module's.
# Needs BUILD_DIR, SOURCE_DIR, CXX_COMPILER, SANITIZE, VERSION.

set(work "${BUILD_DIR}/install_test")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/prefix")

# Nothing but the public headers, and what they include, is installed.
file(GLOB_RECURSE headers RELATIVE "${work}/prefix/include" "${work}/prefix/include/*")
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^(symbind/(detail/)?[a-z_]+|mxnet/c_predict_api)\\.h$")
    message(FATAL_ERROR "installed, but no public header: ${header}")
  endif()
endforeach()

set(flags "")
if(SANITIZE)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/examples/consumer" -B "${work}/build" -G Ninja
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${work}/prefix" ${flags})
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")
message(STATUS "${output}")
run("${work}/build/custom_operator")
message(STATUS "${output}")

# A C and a C++ program: a compiler and pkg-config. The prefix is not the one of the configuration, so the paths of
# symbind.pc must follow the file.
find_program(C_COMPILER NAMES cc gcc clang REQUIRED)
find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE library "${work}/prefix/libsymbind.so")
cmake_path(GET library PARENT_PATH library_dir)
set(ENV{PKG_CONFIG_PATH} "${library_dir}/pkgconfig")
run("${PKG_CONFIG}" --modversion symbind)
if(NOT output STREQUAL "${VERSION}\n")
  message(FATAL_ERROR "pkg-config says version ${output}, the project ${VERSION}")
endif()
run("${PKG_CONFIG}" --cflags symbind)
separate_arguments(cflags UNIX_COMMAND "${output}")
run("${PKG_CONFIG}" --libs symbind)
separate_arguments(libs UNIX_COMMAND "${output}")
set(sanitize "")
if(SANITIZE)
  set(sanitize "-fsanitize=${SANITIZE}")
endif()
set(common -Wall -Wextra -Werror ${sanitize} ${cflags} "-Wl,-rpath,${library_dir}")
run("${C_COMPILER}" -std=c99 -pedantic "${SOURCE_DIR}/tests/install/predict.c" ${common} ${libs}
    -o "${work}/predict")
run("${CXX_COMPILER}" -std=c++20 "${SOURCE_DIR}/tests/install/by_module.cpp" ${common} ${libs}
    -o "${work}/by_module")
set(net "${SOURCE_DIR}/tests/golden/predict/gap")
foreach(asked "1 8 8" "3 9 14" "2 8 8 flat")
  string(REPLACE " " ";" words "${asked}")
  run("${work}/predict" "${net}-symbol.json" "${net}-0000.params" ${words})
  set(by_c "${output}")
  run("${work}/by_module" "${net}-symbol.json" "${net}-0000.params" ${words})
  if(NOT by_c STREQUAL output OR by_c STREQUAL "")
    message(FATAL_ERROR "predict.c ${asked} printed\n${by_c}\nModule says\n${output}")
  endif()
endforeach()
file(REMOVE_RECURSE "${work}")
