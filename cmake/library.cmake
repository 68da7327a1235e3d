# One shared library from everything under src/. A missing accelerator is a stub folder, not an #if.

file(GLOB_RECURSE symbind_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cpp")
file(GLOB_RECURSE symbind_cuda_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cu")

macro(symbind_leave_out pattern)
  list(FILTER symbind_sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/${pattern}/")
endmacro()

if(SYMBIND_HAVE_CUDA)
  symbind_leave_out("device/absent_cuda")
  symbind_leave_out("kernels/absent_cuda")
  list(APPEND symbind_sources ${symbind_cuda_sources})
else()
  symbind_leave_out("device/cuda")
  symbind_leave_out("kernels/(cublas|cudnn|cuda)")
endif()
if(SYMBIND_HAVE_ONEDNN)
  symbind_leave_out("kernels/absent_onednn")
else()
  symbind_leave_out("kernels/onednn")
endif()

symbind_leave_out("net/(auth|grpc|tcp)")  # of the plugin: cmake/dist.cmake

# symbind_internal: what src/ and the tests see besides the public headers.
add_library(symbind_internal INTERFACE)
target_include_directories(symbind_internal INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(symbind_internal INTERFACE
    SYMBIND_HAVE_CUDA=${SYMBIND_HAVE_CUDA} SYMBIND_HAVE_ONEDNN=${SYMBIND_HAVE_ONEDNN}
    SYMBIND_VERSION="${PROJECT_VERSION}"
    SYMBIND_VERIFY=$<BOOL:${SYMBIND_VERIFY}>)
target_link_libraries(symbind_internal INTERFACE fmt::fmt nlohmann_json::nlohmann_json symbind_flags)

add_library(symbind SHARED ${symbind_sources} "${SYMBIND_REGISTER_OPS}" ${SYMBIND_PAGES})
add_library(Symbind::symbind ALIAS symbind)
target_include_directories(symbind PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_compile_features(symbind PUBLIC cxx_std_20)
target_link_libraries(symbind PRIVATE
    symbind_internal symbind_blas symbind_highway $<TARGET_NAME_IF_EXISTS:OpenMP::OpenMP_CXX> ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS}
    $<$<BOOL:${SYMBIND_HAVE_ONEDNN}>:symbind_onednn> $<$<BOOL:${SYMBIND_HAVE_CUDA}>:symbind_cuda>)
set_target_properties(symbind PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

if(SYMBIND_CPU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(symbind PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=${SYMBIND_CPU}>)
endif()

target_precompile_headers(symbind PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:<algorithm$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<array$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<cmath$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<cstdint$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<cstring$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<functional$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<map$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<memory$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<mutex$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<optional$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<span$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<string$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<string_view$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<unordered_map$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<variant$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<vector$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<fmt/core.h$<ANGLE-R>>")

# Files that Highway compiles for several instruction sets. A product and a sum become one rounding only
# where the code says so: bits are equal for all instruction sets with FMA (docs/design/0008-vector.md).
# By default GCC keeps integers of a loop's surroundings in vector registers, and vectors of the loop in memory.
set(vector_options -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND vector_options -fira-region=one)
endif()
set(vector_sources ${symbind_sources})
list(FILTER vector_sources INCLUDE REGEX "_vector\\.cpp$")
set_source_files_properties(${vector_sources} PROPERTIES
    COMPILE_OPTIONS "${vector_options}" SKIP_PRECOMPILE_HEADERS ON)

# No code reads errno after a square root: without it, loops of square roots are vectorised.
set_source_files_properties(src/ops/optimizer/update.cpp src/ops/optimizer/lamb_update.cpp
    src/ops/optimizer/adamw_update.cpp PROPERTIES
    COMPILE_OPTIONS -fno-math-errno SKIP_PRECOMPILE_HEADERS ON)

symbind_unity(symbind 20 ${symbind_sources})
