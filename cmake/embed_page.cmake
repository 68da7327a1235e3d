# A page is written as HTML, CSS and JavaScript in a folder and becomes one string in the library, so
# that a program needs no data file beside it.

# embed_page(FOLDER NAME CONSTANT): adds generated/NAME.cpp, which defines CONSTANT, to SYMBIND_PAGES.
function(embed_page folder name constant)
  set(page_dir "${PROJECT_SOURCE_DIR}/${folder}")
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

  set(file "${PROJECT_BINARY_DIR}/generated/${name}.cpp")
  set(content "// Written by cmake/embed_page.cmake from ${folder}.
namespace symbind {
extern const char* const ${constant};
const char* const ${constant} =
${pieces}    \"\";
}  // namespace symbind
")
  set(before "")
  if(EXISTS "${file}")
    file(READ "${file}" before)
  endif()
  if(NOT before STREQUAL content)
    file(WRITE "${file}" "${content}")
  endif()
  set(SYMBIND_PAGES ${SYMBIND_PAGES} "${file}" PARENT_SCOPE)
endfunction()

embed_page(src/explain/page explain_page kExplainPage)
embed_page(src/module/report_page report_page kReportPage)
