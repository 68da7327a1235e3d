# examples/cpp/*.cpp -> example_<stem>, benchmarks/*.cpp -> bench_<stem>, tools/<program>/*.cpp -> <program>.
# Examples use the public headers only; benchmarks and tools may include internal ones.
if(NOT SYMBIND_PROGRAMS)
  return()
endif()

file(GLOB SYMBIND_EXAMPLES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/cpp/*.cpp")
foreach(source IN LISTS SYMBIND_EXAMPLES)
  cmake_path(GET source STEM LAST_ONLY stem)
  add_executable(example_${stem} "${source}")
  target_link_libraries(example_${stem} PRIVATE symbind symbind_flags ZLIB::ZLIB)
endforeach()

file(GLOB symbind_benchmarks CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/*.cpp")
file(GLOB symbind_bench_support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/support/*.cpp")
add_library(bench_support OBJECT ${symbind_bench_support})
# For quotes only: the program benchmarks/compare must not be taken for the header <compare>.
target_compile_options(bench_support PUBLIC "SHELL:-iquote ${PROJECT_SOURCE_DIR}/benchmarks")
target_compile_definitions(bench_support PUBLIC SYMBIND_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(bench_support PUBLIC symbind symbind_internal symbind_blas
    $<$<BOOL:${SYMBIND_HAVE_ONEDNN}>:symbind_onednn>)
foreach(source IN LISTS symbind_benchmarks)
  cmake_path(GET source STEM LAST_ONLY stem)
  add_executable(bench_${stem} "${source}")
  target_link_libraries(bench_${stem} PRIVATE bench_support)
endforeach()
# Only where SimGrid is installed (Debian: libsimgrid-dev).
find_path(SIMGRID_INCLUDE simgrid/s4u.hpp)
find_library(SIMGRID_LIBRARY simgrid)
mark_as_advanced(SIMGRID_INCLUDE SIMGRID_LIBRARY)
if(SIMGRID_INCLUDE AND SIMGRID_LIBRARY)
  add_executable(bench_scale "${PROJECT_SOURCE_DIR}/benchmarks/scale/scale.cpp")
  target_include_directories(bench_scale SYSTEM PRIVATE "${SIMGRID_INCLUDE}")
  target_link_libraries(bench_scale PRIVATE bench_support "${SIMGRID_LIBRARY}")
endif()

foreach(program opgen exchange_tool)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/${program}/*.cpp")
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE symbind symbind_internal)
endforeach()

# Compares as the tests do.
if(SYMBIND_TESTS)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/replay_tool/*.cpp")
  add_executable(replay_tool ${sources})
  target_link_libraries(replay_tool PRIVATE tests_support)
endif()
