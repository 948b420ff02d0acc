# What find_package(millrace) finds: every room, its headers, and millrace::millrace, which is all
# of them together.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# install_millrace_package(): after all rooms have been added.
function(install_millrace_package)
  get_property(rooms GLOBAL PROPERTY MILLRACE_ROOMS)
  install(TARGETS millrace ${rooms} EXPORT millraceTargets)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace
          FILES_MATCHING PATTERN "*.h" PATTERN cli EXCLUDE)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/millrace)
  install(EXPORT millraceTargets NAMESPACE millrace:: DESTINATION ${folder})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/millraceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/millraceConfig.cmake INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/millraceConfig.cmake
                ${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_dependencies.cmake
          DESTINATION ${folder})
endfunction()
