# The keys of summary.json for compared_runs.cpp, from the tables of the reference page: the one list of them.
set(page ${CMAKE_SOURCE_DIR}/docs/reference/summary.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
file(STRINGS ${page} rows REGEX "^[|] `.*[|] (integer|number|flag) [|]")
set(keys "")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^[|]([^|]*)[|].*" "\\1" cell "${row}")
  string(REGEX MATCHALL "`[a-z0-9_.]+`" found "${cell}")
  list(APPEND keys ${found})
endforeach()
string(REPLACE "`" "" keys "${keys}")
list(JOIN keys " " keys)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/app/report/compared_runs.cpp PROPERTIES COMPILE_DEFINITIONS
  "STARLING_SUMMARY_KEYS=\"${keys}\"")
