# What find_package(millrace) and pkg-config find: the shared library with the headers of
# include/millrace; the components dataflow and realtime, which are libraries of their own. The
# component `rooms`, which a usual installation leaves out, has all rooms as archives with their
# headers: for plug-ins and for the programs that `millrace export` writes.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# install_headers(COMPONENT ROOM...): of the rooms, where their #include finds them.
function(install_headers component)
  foreach(room ${ARGN})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room} COMPONENT ${component} ${excluded}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace FILES_MATCHING PATTERN "*.h")
  endforeach()
endfunction()

# What the headers of dataflow and realtime include of the room base.
set(MILLRACE_COMPONENT_BASE error.h excerpt.h ids.h printable.h random.h text/masked.h trace.h units.h
    verdict.h yaml.h)

# install_component_libraries(): base, dataflow and realtime.
function(install_component_libraries folder)
  foreach(room Base Dataflow Realtime)
    string(TOLOWER ${room} name)
    install(TARGETS millrace_${name} EXPORT millrace${room}Targets COMPONENT development)
    install(EXPORT millrace${room}Targets NAMESPACE millrace:: DESTINATION ${folder}
            COMPONENT development)
  endforeach()
  install_headers(development dataflow realtime)
  foreach(header ${MILLRACE_COMPONENT_BASE})
    get_filename_component(below ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/src/base/${header}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace/base/${below} COMPONENT development)
  endforeach()
endfunction()

# install_rooms(): the component `rooms`.
function(install_rooms folder)
  get_property(rooms GLOBAL PROPERTY MILLRACE_ROOMS)
  list(REMOVE_ITEM rooms millrace_base millrace_dataflow millrace_realtime)
  install(TARGETS millrace_rooms ${rooms} EXPORT millraceRoomsTargets
          COMPONENT rooms EXCLUDE_FROM_ALL)
  install(EXPORT millraceRoomsTargets NAMESPACE millrace:: DESTINATION ${folder}
          COMPONENT rooms EXCLUDE_FROM_ALL)
  set(excluded EXCLUDE_FROM_ALL)
  install_headers(rooms analysis application base board codegen deployment engine explore formats
                  kernels network plan present product profile runtime schedule serve simulate system workload)
endfunction()

# install_millrace_package(): after all rooms have been added.
function(install_millrace_package)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/millrace)
  install(TARGETS millrace EXPORT millraceTargets
          LIBRARY COMPONENT library NAMELINK_COMPONENT development)
  install(EXPORT millraceTargets NAMESPACE millrace:: DESTINATION ${folder} COMPONENT development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/millrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT development)
  install_component_libraries(${folder})
  install_rooms(${folder})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/millraceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/millraceConfig.cmake INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/millraceConfig.cmake
                ${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_dataflow_dependencies.cmake
          DESTINATION ${folder} COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/millrace_dependencies.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_media.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_onednn.cmake
          DESTINATION ${folder} COMPONENT rooms EXCLUDE_FROM_ALL)
  install_pkg_config_files()
endfunction()

# install_pkg_config_files(): millrace.pc, millrace-dataflow.pc and millrace-realtime.pc.
function(install_pkg_config_files)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH from_pc_to_prefix /${folder} /)
  foreach(name millrace millrace-dataflow millrace-realtime)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${folder} COMPONENT development)
  endforeach()
endfunction()
