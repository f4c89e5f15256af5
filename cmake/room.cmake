# One static library per room (folder) of the house.
#
#   starling_room(NAME USES rooms... [PUBLIC_LIBRARIES ...] [LIBRARIES ...])
#
# Each room exports a folder that holds nothing but a link to its own headers, so `#include "starling/net/x.hpp"` works
# only where starling_net was named after USES (directly or through a room that uses it).

add_library(starling_options INTERFACE)
target_compile_features(starling_options INTERFACE cxx_std_20)
# -ffp-contract=off: a fused multiply-add in one code path and not in another would break bit-for-bit equality.
# -fno-trapping-math: nobody asks which arithmetic left the range of doubles, so loops with a choice in them may do both sides.
target_compile_options(starling_options INTERFACE
  -ffp-contract=off -fno-trapping-math -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # GCC 12 sees overlaps in std::string that are none (GCC bug 105651)
  $<$<BOOL:${STARLING_WERROR}>:-Werror>
  $<$<BOOL:${STARLING_ARCH}>:-march=${STARLING_ARCH}>)
if(STARLING_SANITIZE)
  target_compile_options(starling_options INTERFACE -fsanitize=${STARLING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(starling_options INTERFACE -fsanitize=${STARLING_SANITIZE})
endif()
set_property(GLOBAL PROPERTY STARLING_ROOMS "")

# Headers of others that a third of the time of a build goes into are compiled once. Nothing of the house is among them, so
# that an include against the arrows fails with them too; a forgotten include of theirs fails without.
if(CMAKE_CXX_COMPILER_LAUNCHER AND STARLING_PRECOMPILE)
  message(STATUS "no precompiled headers: ${CMAKE_CXX_COMPILER_LAUNCHER} would have nothing to keep")
  set(STARLING_PRECOMPILE "")
endif()
set(STARLING_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map> <memory> <numeric> <optional> <set>
  <span> <sstream> <string> <string_view> <utility> <vector> <fmt/format.h>)

# starling_precompiled(TARGET OWNER): TARGET begins with the headers that OWNER has compiled, or compiles them if it is OWNER.
function(starling_precompiled target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${STARLING_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
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

function(starling_room room)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES;PUBLIC_LIBRARIES" ${ARGN})
  if("hdf5_c" IN_LIST ARG_LIBRARIES OR "hdf5_c" IN_LIST ARG_PUBLIC_LIBRARIES)
    starling_hdf5_target()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.cpp)
  set(visible PUBLIC)
  set(hidden PRIVATE)
  if(sources)
    add_library(starling_${room} STATIC ${sources})
  else()  # a room of headers alone
    add_library(starling_${room} INTERFACE)
    set(visible INTERFACE)
    set(hidden INTERFACE)
  endif()
  set(doorway ${CMAKE_BINARY_DIR}/rooms/${room})
  file(MAKE_DIRECTORY ${doorway}/starling)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/starling/${room} ${doorway}/starling/${room} SYMBOLIC)
  target_include_directories(starling_${room} ${visible} ${doorway})
  list(TRANSFORM ARG_USES PREPEND starling_ OUTPUT_VARIABLE used)
  target_link_libraries(starling_${room} ${visible} starling_options ${used} ${ARG_PUBLIC_LIBRARIES}
                        ${hidden} ${ARG_LIBRARIES})
  if(sources AND STARLING_PRECOMPILE STREQUAL "all")
    starling_precompiled(starling_${room} starling_core)
  endif()
  set_property(GLOBAL APPEND PROPERTY STARLING_ROOMS ${room})
endfunction()
