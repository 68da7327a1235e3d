# The build options, and the flags that follow from them.

option(SYMBIND_CUDA "Build the CUDA runtime and kernels" OFF)
option(SYMBIND_ONEDNN "Use oneDNN where it is found" ON)
# A wheel has no plugin by default: gRPC and its libraries are as large as all of its other files.
if(SKBUILD)
  set(dist_default OFF)
else()
  set(dist_default ON)
endif()
option(SYMBIND_DIST "Build the plugin of distributed stores where gRPC is found" ${dist_default})
option(SYMBIND_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SYMBIND_PROGRAMS "Build examples, benchmarks and tools" ${PROJECT_IS_TOP_LEVEL})
option(SYMBIND_OPENMP "Run loops on the threads of OpenMP; without, on the calling thread" ON)
option(SYMBIND_FUZZ "Build the fuzzers of tests/fuzz: needs clang, and its fuzzer in SYMBIND_SANITIZE" OFF)
option(SYMBIND_UNITY "Compile several files as one unit: a full build is faster, one after a change slower" OFF)
option(SYMBIND_VERIFY "Verify graphs between passes and other costly internal checks" OFF)
set(SYMBIND_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")
set(SYMBIND_CPU "x86-64-v2" CACHE STRING "Value for -march= of the library on x86-64, empty for none")
set(SYMBIND_MXNET_SOURCE "" CACHE PATH "A git directory or tree of apache/mxnet, whose example/ a slow test runs")
set(SYMBIND_CUDA_ARCHITECTURES "90" CACHE STRING "CUDA architectures to build for")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# The OpenMP build of OpenBLAS may be in a separate folder: the rpath finds it after installation.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Ninja runs as many compilers as there are cores; here, no more than fit into memory.
cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR compilers "${megabytes} / 1000 + 1")
set_property(GLOBAL APPEND PROPERTY JOB_POOLS symbind_compile=${compilers})
set(CMAKE_JOB_POOL_COMPILE symbind_compile)

find_program(SYMBIND_CCACHE ccache)
if(SYMBIND_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache handles the precompiled header only with these sloppiness settings.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${SYMBIND_CCACHE}")
endif()

# symbind_sanitizers: for everything compiled here, the Python bindings included.
add_library(symbind_sanitizers INTERFACE)
if(SYMBIND_SANITIZE)
  target_compile_options(symbind_sanitizers INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SYMBIND_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all>)
  target_link_options(symbind_sanitizers INTERFACE -fsanitize=${SYMBIND_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND SYMBIND_SANITIZE MATCHES "address")
    # GCC 13 checks this by default and misaligns the vectors on its stack.
    target_compile_options(symbind_sanitizers INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:--param=asan-use-after-return=0>)
  endif()
endif()

# symbind_flags: the same, and warnings.
add_library(symbind_flags INTERFACE)
target_link_libraries(symbind_flags INTERFACE symbind_sanitizers)
target_compile_options(symbind_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -fno-semantic-interposition>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wpsabi speaks of an ABI change of GCC 4.6 we cannot meet; -Wrestrict and -Wstringop-overflow of
  # GCC 12 see ghosts in "text" + std::string.
  target_compile_options(symbind_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess -Wno-psabi -Wno-restrict -Wno-stringop-overflow>)
endif()
