# The Python package: symbind._core from python/bindings, beside links to the package's sources, so
# that `PYTHONPATH=<build>/python` is a working tree. SYMBIND_PYTHON is ON, OFF or AUTO (where Python's
# headers and nanobind are there).
set(SYMBIND_PYTHON AUTO CACHE STRING "Build the Python package: ON, OFF or AUTO")
if(NOT SYMBIND_PYTHON)
  return()
endif()

# A virtual environment of the project comes first: ./run-tests makes it.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
set(nanobind_status 1)
if(Python_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
      OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT RESULT_VARIABLE nanobind_status
      ERROR_QUIET)
endif()
if(NOT nanobind_status EQUAL 0)
  if(SYMBIND_PYTHON STREQUAL "AUTO")
    message(STATUS "Python's headers or nanobind were not found: building without the Python package")
    return()
  endif()
  message(FATAL_ERROR "SYMBIND_PYTHON=ON needs Python >= 3.10 with headers, and nanobind (pip install nanobind)")
endif()
find_package(nanobind CONFIG REQUIRED)
set(SYMBIND_HAVE_PYTHON ON)

file(GLOB binding_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/bindings/*.cpp")
nanobind_add_module(_core NB_STATIC NOMINSIZE ${binding_sources})
target_link_libraries(_core PRIVATE symbind symbind_sanitizers)
target_compile_features(_core PRIVATE cxx_std_20)
symbind_unity(_core 8 ${binding_sources})
set(package_dir "${PROJECT_BINARY_DIR}/python/symbind")
set_target_properties(_core PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${package_dir}" INSTALL_RPATH "$ORIGIN" CXX_CLANG_TIDY "")

file(MAKE_DIRECTORY "${package_dir}")
file(GLOB package_entries CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/python/symbind"
     "${PROJECT_SOURCE_DIR}/python/symbind/*")
list(REMOVE_ITEM package_entries "__pycache__")
foreach(entry IN LISTS package_entries)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/symbind/${entry}" "${package_dir}/${entry}" SYMBOLIC)
endforeach()
