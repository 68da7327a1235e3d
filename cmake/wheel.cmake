# What a wheel contains besides the Python files; scikit-build-core sets SKBUILD. Extension, library and
# program are in one package, and each finds the library by a path relative to itself. `pip install .`
# takes the other libraries from the system; tools/wheel adds them.
if(NOT SKBUILD)
  return()
endif()

set(wheel_targets _core symbind)
# A wheel contains no links, so the library has no version in its file name.
set_property(TARGET symbind PROPERTY VERSION)
set_property(TARGET symbind PROPERTY SOVERSION)
# The system's libz.a is position independent only for symbols that stay inside.
set(hide_zlib LINKER:--exclude-libs,libz.a)
target_link_options(symbind PRIVATE ${hide_zlib})
install(TARGETS _core symbind LIBRARY DESTINATION symbind COMPONENT python EXCLUDE_FROM_ALL)

if(TARGET symbind_dist)
  list(APPEND wheel_targets symbind_dist)
  target_link_options(symbind_dist PRIVATE ${hide_zlib})
  install(TARGETS symbind_dist LIBRARY DESTINATION symbind COMPONENT python EXCLUDE_FROM_ALL)
endif()

if(TARGET symbind_program)
  list(APPEND wheel_targets symbind_program)
  set_target_properties(symbind_program PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS symbind_program RUNTIME DESTINATION symbind/bin COMPONENT python EXCLUDE_FROM_ALL)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/python/scripts/symbind" DESTINATION "${SKBUILD_SCRIPTS_DIR}"
      COMPONENT python EXCLUDE_FROM_ALL)
endif()
# The target that pyproject.toml builds: examples, benchmarks and tools are not part of a wheel.
add_custom_target(wheel DEPENDS ${wheel_targets})
