# Installs the build into an empty folder and builds and runs examples/consumer against that copy.
# Needs BUILD_DIR, SOURCE_DIR, CXX_COMPILER, SANITIZE.

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

# Nothing but the public headers is installed.
file(GLOB_RECURSE headers RELATIVE "${work}/prefix/include" "${work}/prefix/include/*")
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^symbind/[a-z_]+\\.h$")
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
run("${work}/build/own_operator")
message(STATUS "${output}")
file(REMOVE_RECURSE "${work}")
