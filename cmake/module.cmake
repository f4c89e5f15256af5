# One static library per module: a first-level folder of src with its subfolders.
#
#   starling_module(NAME [NO_LOOPS] USES modules... [PUBLIC_LIBRARIES ...] [LIBRARIES ...])
#
# NO_LOOPS: the module's time goes into files and text, not into arithmetic. Release builds optimise it less (-O1), which
# saves a third of its compilation, and builds with sanitizers not at all. Results are the same bits.
#
# Headers stand beside their sources. `#include "net/x.hpp"` works only where net was named after USES, directly or through a
# module that uses it. What is installed stands in include/starling.

add_library(starling_build_options INTERFACE)
target_compile_features(starling_build_options INTERFACE cxx_std_20)
# -ffp-contract=off: a fused multiply-add in one code path and not in another would break bit-for-bit equality.
# -fno-trapping-math: nobody asks which arithmetic left the range of doubles, so loops with a choice in them may do both sides.
target_compile_options(starling_build_options INTERFACE
  -ffp-contract=off -fno-trapping-math -fno-semantic-interposition -Wall -Wextra -Wpedantic -Wconversion
  $<$<AND:$<BOOL:${STARLING_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>  # GCC takes files of a unit for headers
  $<$<NOT:$<BOOL:${STARLING_UNITY}>>:-Wshadow>  # in a unit of several files, names of one would shadow those of another
  # GCC 12 sees overlaps and overflows in std::string that are none (GCC bug 105651), most with precompiled headers.
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>"
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>  # in kB: GCC collects its garbage later, which saves a tenth
  $<$<BOOL:${STARLING_ARCH}>:-march=${STARLING_ARCH}>)
# Sanitizers, but for targets with the property STARLING_UNWATCHED. Left out for the time that they take to compile: null and
# object-size, where the address sanitizer sees the access itself, and vptr (casts to a wrong class), which nothing replaces.
if(STARLING_SANITIZE)
  set(watched $<NOT:$<BOOL:$<TARGET_PROPERTY:STARLING_UNWATCHED>>>)
  target_compile_options(starling_build_options INTERFACE -fno-omit-frame-pointer "$<${watched}:-fsanitize=${STARLING_SANITIZE}>"
    $<${watched}:-fno-sanitize-recover=all> "$<${watched}:-fno-sanitize=null,vptr,object-size>")
  target_link_options(starling_build_options INTERFACE -fsanitize=${STARLING_SANITIZE})
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld STARLING_HAS_LLD)  # programs of 200 MB, which it links in a fifth of the time
  if(STARLING_HAS_LLD)
    target_link_options(starling_build_options INTERFACE -fuse-ld=lld)
  endif()
endif()
set_property(GLOBAL PROPERTY STARLING_MODULES "")

# Where ccache is installed, modules that were compiled before are not compiled again. Elsewhere their headers are precompiled.
find_program(STARLING_CCACHE ccache)
mark_as_advanced(STARLING_CCACHE)

# Headers that most files need. They are compiled once for all targets with the same options (STARLING_PRECOMPILE); the preset
# dev does without, so that a file that forgets an include fails there.
set(STARLING_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map> <memory> <numeric> <optional> <set>
  <span> <sstream> <string> <string_view> <utility> <vector> <fmt/format.h>)
if(CMAKE_CXX_COMPILER_LAUNCHER AND STARLING_PRECOMPILE)
  message(STATUS "no precompiled headers: ${CMAKE_CXX_COMPILER_LAUNCHER} would have nothing to keep")
  set(STARLING_PRECOMPILE OFF)
endif()

# The first target of a group compiles the common headers, and `more`, for all of the group.
function(starling_precompile target group more)
  get_property(first GLOBAL PROPERTY STARLING_PRECOMPILED_${group})
  if(NOT STARLING_PRECOMPILE)
    return()
  elseif(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${STARLING_COMMON_HEADERS} ${more})
    set_property(GLOBAL PROPERTY STARLING_PRECOMPILED_${group} ${target})
  endif()
endfunction()

# HDF5's CMake module gives variables, not a target, when it runs through the compiler wrapper.
function(starling_hdf5_target)
  if(NOT TARGET hdf5_c)
    add_library(hdf5_c INTERFACE IMPORTED GLOBAL)
    set_target_properties(hdf5_c PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${HDF5_C_INCLUDE_DIRS}"
                          INTERFACE_LINK_LIBRARIES "${HDF5_C_LIBRARIES}")
  endif()
endfunction()

# Folders of a module that come after one another are compiled as one translation unit (STARLING_UNITY) of up to 150,000 bytes,
# or of one larger folder: their headers are read once. Names in anonymous namespaces must therefore be unique in a module.
function(starling_few_units target module)
  if(NOT STARLING_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(unit 0)
  set(bytes_of_unit 0)
  file(GLOB_RECURSE folders LIST_DIRECTORIES true ${CMAKE_SOURCE_DIR}/src/${module}/*)
  list(FILTER folders EXCLUDE REGEX "\\.[ch]pp$")
  foreach(folder ${CMAKE_SOURCE_DIR}/src/${module} ${folders})
    file(GLOB sources ${folder}/*.cpp)
    set(bytes 0)
    foreach(source ${sources})
      file(SIZE ${source} size)
      math(EXPR bytes "${bytes} + ${size}")
    endforeach()
    math(EXPR bytes_of_unit "${bytes_of_unit} + ${bytes}")
    if(bytes_of_unit GREATER 150000)
      math(EXPR unit "${unit} + 1")
      set(bytes_of_unit ${bytes})
    endif()
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${module}_${unit})
  endforeach()
endfunction()

function(starling_module module)
  cmake_parse_arguments(ARG "NO_LOOPS" "" "USES;LIBRARIES;PUBLIC_LIBRARIES" ${ARGN})
  if("hdf5_c" IN_LIST ARG_LIBRARIES OR "hdf5_c" IN_LIST ARG_PUBLIC_LIBRARIES)
    starling_hdf5_target()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*.cpp)
  list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/app/main.cpp)
  add_library(starling_${module} STATIC ${sources})
  starling_few_units(starling_${module} ${module})
  # The library and the Python package are shared objects that show their own interfaces only.
  set_target_properties(starling_${module} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
  if(ARG_NO_LOOPS)
    target_compile_options(starling_${module} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(STARLING_SANITIZE)
      target_compile_options(starling_${module} PRIVATE -O0)
    endif()
  endif()
  if(STARLING_WERROR)  # but for what GCC 12 is unsure of in std::string
    target_compile_options(starling_${module} PRIVATE -Werror $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
  endif()
  if(STARLING_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(starling_${module} PROPERTIES CXX_COMPILER_LAUNCHER ${STARLING_CCACHE})
  elseif(NOT STARLING_WERROR)  # GCC 12 has more to say of std::string where its headers are precompiled, and is wrong
    starling_precompile(starling_${module} "modules_${ARG_NO_LOOPS}" "")
  endif()
  # A folder that holds nothing but a link, so that an include directory shows one module and no other.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/modules/${module})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${module} ${CMAKE_BINARY_DIR}/modules/${module}/${module} SYMBOLIC)
  target_include_directories(starling_${module} PUBLIC ${CMAKE_BINARY_DIR}/modules/${module})
  list(TRANSFORM ARG_USES PREPEND starling_ OUTPUT_VARIABLE used)
  target_link_libraries(starling_${module} PUBLIC starling_build_options ${used} ${ARG_PUBLIC_LIBRARIES}
                        PRIVATE ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY STARLING_MODULES ${module})
endfunction()
