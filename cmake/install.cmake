# `cmake --install` gives lib, include/symbind, the C predict API's header where MXNet has it, the
# package Symbind for find_package, and symbind.pc for pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(symbind_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Symbind")
install(TARGETS symbind EXPORT SymbindTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET symbind_dist)
  install(TARGETS symbind_dist LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/symbind" "${PROJECT_SOURCE_DIR}/include/mxnet"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(EXPORT SymbindTargets NAMESPACE Symbind:: DESTINATION "${symbind_package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/SymbindConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/SymbindConfig.cmake" INSTALL_DESTINATION "${symbind_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SymbindConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SymbindConfig.cmake"
    "${PROJECT_BINARY_DIR}/SymbindConfigVersion.cmake" DESTINATION "${symbind_package_dir}")

file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
file(RELATIVE_PATH libdir_from_prefix "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH includedir_from_prefix "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/symbind.pc.in" "${PROJECT_BINARY_DIR}/symbind.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/symbind.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
