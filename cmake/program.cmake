# programs/symbind -> bin/symbind, the command-line program. It uses the public headers only.
if(NOT SYMBIND_PROGRAMS)
  return()
endif()
# What ./quickstart builds.
add_custom_target(quickstart DEPENDS example_train_mnist example_show_mnist)
if(NOT CLI11_FOUND)
  message(STATUS "CLI11 was not found: the program symbind is left out")
  return()
endif()

file(GLOB program_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/programs/symbind/*.cpp")
add_executable(symbind_program ${program_sources})
target_link_libraries(symbind_program PRIVATE symbind symbind_flags CLI11::CLI11
    nlohmann_json::nlohmann_json fmt::fmt ZLIB::ZLIB)
# Little of it is hot, and CLI11 and the JSON library take long to optimise.
target_compile_options(symbind_program PRIVATE $<$<CONFIG:Release>:-O1>)
target_precompile_headers(symbind_program PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp> <fmt/format.h>)
# The library has the target name symbind. A program finds it beside itself, built or installed.
set_target_properties(symbind_program PROPERTIES OUTPUT_NAME symbind
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS symbind_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
symbind_unity(symbind_program 8 ${program_sources})
add_dependencies(quickstart symbind_program)
