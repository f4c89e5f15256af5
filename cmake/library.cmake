# The C++ library: libstarling with its own header and nothing of the modules to be seen; what find_package(starling) and
# pkg-config need.
include(CMakePackageConfigHelpers)

add_library(starling_library SHARED src/library/library.cpp)
add_library(starling::starling ALIAS starling_library)
set_target_properties(starling_library PROPERTIES OUTPUT_NAME starling EXPORT_NAME starling
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(starling_library
  PUBLIC $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/modules/faces> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(starling_library PRIVATE starling_app starling_hdf5)
target_link_options(starling_library PRIVATE -Wl,--exclude-libs,ALL)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/starling)
install(TARGETS starling_library EXPORT starling LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/starling/plugin.h include/starling/starling.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/starling)
install(EXPORT starling NAMESPACE starling:: FILE starling-targets.cmake DESTINATION ${package_folder})
file(WRITE ${CMAKE_BINARY_DIR}/starling-config.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/starling-targets.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/starling-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/starling-config.cmake ${CMAKE_BINARY_DIR}/starling-config-version.cmake
  DESTINATION ${package_folder})
configure_file(cmake/starling.pc.in ${CMAKE_BINARY_DIR}/starling.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/starling.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
