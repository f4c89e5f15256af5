# One static library per room (folder) of the house.
#
#   starling_room(NAME USES rooms... [PUBLIC_LIBRARIES ...] [LIBRARIES ...])
#
# Each room exports a folder that holds nothing but a link to its own headers, so `#include "starling/net/x.hpp"` works
# only where starling_net was named after USES (directly or through a room that uses it).

add_library(starling_options INTERFACE)
target_compile_features(starling_options INTERFACE cxx_std_20)
# -ffp-contract=off: a fused multiply-add in one code path and not in another would break bit-for-bit equality.
target_compile_options(starling_options INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # GCC 12 sees overlaps in std::string that are none (GCC bug 105651)
  $<$<BOOL:${STARLING_WERROR}>:-Werror>
  $<$<CONFIG:Release>:-O3> $<$<BOOL:${STARLING_ARCH}>:-march=${STARLING_ARCH}>)
if(STARLING_SANITIZE)
  target_compile_options(starling_options INTERFACE -fsanitize=${STARLING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(starling_options INTERFACE -fsanitize=${STARLING_SANITIZE})
endif()
set_property(GLOBAL PROPERTY STARLING_ROOMS "")

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
  set_property(GLOBAL APPEND PROPERTY STARLING_ROOMS ${room})
endfunction()
