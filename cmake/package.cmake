# Documents, examples and jobs beside the program, and packages by CPack: packaging/build.sh makes them.
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY jobs DESTINATION ${CMAKE_INSTALL_DATADIR}/starling USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)

set(STARLING_MAINTAINER "The starling developers <starling@example.org>" CACHE STRING "name and address of who made a package")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "The starling developers")
set(CPACK_PACKAGE_CONTACT ${STARLING_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "decentralized, differentially private online learning on MPI")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
string(TOLOWER starling-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_PACKAGE_FILE_NAME)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/stage.cmake)
set(CPACK_STARLING_SOURCE_DIR ${CMAKE_SOURCE_DIR})
set(CPACK_STARLING_DOCDIR ${CMAKE_INSTALL_DOCDIR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, python3-h5py")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "graphviz, python3-pandas, python3-networkx, slurm-client")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Several owners of records learn one model together, without a server and
without giving records away. In every round each of them takes a
differentially private step of online mirror descent on records of its own,
and mixes its model with its neighbours over a directed graph.
.
The package has the program, the C++ library, the Python package, examples
and documents. It is built for ${STARLING_ARCH}.")
if(TARGET _starling)  # a native module fits one version of Python
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/prerm)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS
    ", python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy")
endif()
if(TARGET starling_library)  # what programs that link it depend on, and that the linker's cache is to be renewed
  set(control ${CMAKE_BINARY_DIR}/debian)
  file(CONFIGURE OUTPUT ${control}/shlibs CONTENT
    "libstarling ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} starling (>= ${PROJECT_VERSION})\n")
  file(CONFIGURE OUTPUT ${control}/triggers CONTENT "activate-noawait ldconfig\n")
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${control}/shlibs ${control}/triggers)
endif()
include(CPack)
