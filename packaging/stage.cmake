# Run by CPack between installation into a folder and packing: what one kind of package has and `cmake --install` does not.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})

# The files that Debian's policy asks for: copyright, its own changelog, and man pages that are compressed.
function(stage_for_debian)
  set(documents ${root}/usr/${CPACK_STARLING_DOCDIR})
  set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
  execute_process(COMMAND git -C ${CPACK_STARLING_SOURCE_DIR} log -1 --format=%aD OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  if(NOT date)  # a tree without git
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  endif()
  configure_file(${CPACK_STARLING_SOURCE_DIR}/packaging/debian/changelog.in ${documents}/changelog.Debian @ONLY)
  configure_file(${CPACK_STARLING_SOURCE_DIR}/packaging/debian/copyright ${documents}/copyright COPYONLY)
  file(GLOB_RECURSE pages ${root}/usr/share/man/*)
  execute_process(COMMAND gzip -9n ${documents}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Copies into `folder` every library that the binaries need and that neither the system nor MPI brings, with its licence.
function(copy_libraries folder)
  set(of_system "^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s|python3.*))[.-]")
  set(of_mpi "^lib(mpi|open-|hwloc|event|pmix|ucx|uc[pst]|fabric|udev)")
  file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${ARGN} RESOLVED_DEPENDENCIES_VAR found
       PRE_EXCLUDE_REGEXES ${of_system} ${of_mpi})
  foreach(library ${found})
    file(INSTALL ${library} DESTINATION ${folder} FOLLOW_SYMLINK_CHAIN)
    file(REAL_PATH ${library} real)
    execute_process(COMMAND dpkg -S ${real} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([^:]+):")
      configure_file(/usr/share/doc/${CMAKE_MATCH_1}/copyright ${root}/${CPACK_STARLING_DOCDIR}/libraries/${CMAKE_MATCH_1} COPYONLY)
    endif()
  endforeach()
endfunction()

# A tarball runs from any folder: its binaries find copies of the libraries from where they are themselves.
function(stage_for_any_folder)
  find_program(patchelf patchelf)
  if(NOT patchelf)
    message(FATAL_ERROR "the tarball needs patchelf: it is not installed. Install it (Debian: apt-get install patchelf).")
  endif()
  file(GLOB_RECURSE binaries ${root}/bin/starling ${root}/lib/*.so ${root}/lib/*.so.*)
  foreach(binary ${binaries})
    if(NOT IS_SYMLINK ${binary})
      list(APPEND own ${binary})
    endif()
  endforeach()
  copy_libraries(${root}/lib/starling ${own})
  foreach(binary ${own})
    cmake_path(GET binary PARENT_PATH from)
    file(RELATIVE_PATH there ${from} ${root}/lib/starling)
    # DT_RPATH, unlike DT_RUNPATH, is also searched for what the copies need.
    execute_process(COMMAND ${patchelf} --force-rpath --set-rpath "$ORIGIN/${there}" ${binary} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(INSTALL ${CPACK_STARLING_SOURCE_DIR}/LICENSE DESTINATION ${root}/${CPACK_STARLING_DOCDIR})
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  stage_for_debian()
elseif(CPACK_GENERATOR STREQUAL "TGZ")
  stage_for_any_folder()
endif()
