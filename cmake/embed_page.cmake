# The page of `explain` is written as HTML, CSS and JavaScript in src/explain/page and becomes one
# string in the library, so that a program needs no data file beside it.

set(page_dir "${PROJECT_SOURCE_DIR}/src/explain/page")
file(GLOB page_scripts CONFIGURE_DEPENDS "${page_dir}/*.js")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${page_dir}/page.html" "${page_dir}/style.css" ${page_scripts})

file(READ "${page_dir}/page.html" page)
file(READ "${page_dir}/style.css" style)
set(script "")
foreach(source IN LISTS page_scripts)  # in alphabetical order; main.js calls the others at the end
  file(READ "${source}" text)
  string(APPEND script "${text}")
endforeach()
string(REPLACE "/* style.css */" "${style}" page "${page}")
string(REPLACE "/* scripts */" "${script}" page "${page}")
# A string literal may not be longer than 64 kB everywhere: it is cut into pieces.
string(LENGTH "${page}" length)
set(pieces "")
set(begin 0)
while(begin LESS length)
  string(SUBSTRING "${page}" ${begin} 8000 piece)
  string(APPEND pieces "    R\"~page(${piece})~page\"\n")
  math(EXPR begin "${begin} + 8000")
endwhile()

set(SYMBIND_EXPLAIN_PAGE "${PROJECT_BINARY_DIR}/generated/explain_page.cpp")
set(content "// Written by cmake/embed_page.cmake from src/explain/page.
namespace symbind {
extern const char* const kExplainPage;
const char* const kExplainPage =
${pieces}    \"\";
}  // namespace symbind
")
set(before "")
if(EXISTS "${SYMBIND_EXPLAIN_PAGE}")
  file(READ "${SYMBIND_EXPLAIN_PAGE}" before)
endif()
if(NOT before STREQUAL content)
  file(WRITE "${SYMBIND_EXPLAIN_PAGE}" "${content}")
endif()
