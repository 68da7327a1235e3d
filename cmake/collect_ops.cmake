# An operator has one home: src/ops/<family>/<stem>.cpp defines register_<stem>(OpRegistry&).
# This writes the list of those calls, so that adding an operator edits nothing central.

file(GLOB SYMBIND_OP_SOURCES CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/src/ops/*/*.cpp")

set(declarations "")
set(calls "")
set(stems "")
foreach(source IN LISTS SYMBIND_OP_SOURCES)
  cmake_path(GET source STEM LAST_ONLY stem)
  if(stem IN_LIST stems)
    message(FATAL_ERROR "two operator files are called ${stem}.cpp: ${source} and another in src/ops")
  endif()
  list(APPEND stems "${stem}")
  string(APPEND declarations "void register_${stem}(OpRegistry&);  // ${source}\n")
  string(APPEND calls "  register_${stem}(registry);\n")
endforeach()
if(NOT stems)
  set(calls "  (void)registry;\n")
endif()

set(SYMBIND_REGISTER_OPS "${PROJECT_BINARY_DIR}/generated/register_ops.cpp")
file(CONFIGURE OUTPUT "${SYMBIND_REGISTER_OPS}" @ONLY CONTENT
"// Written by cmake/collect_ops.cmake from the files of src/ops.
namespace symbind {

class OpRegistry;

@declarations@
void register_all_ops(OpRegistry& registry);
void register_all_ops(OpRegistry& registry) {
@calls@}

}  // namespace symbind
")
