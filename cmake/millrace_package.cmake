# What find_package(millrace) and pkg-config find: every room, its headers, and millrace::millrace,
# which is all of them together; and the components dataflow and realtime, which need fewer libraries.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# install_millrace_package(): after all rooms have been added.
function(install_millrace_package)
  get_property(rooms GLOBAL PROPERTY MILLRACE_ROOMS)
  set(base millrace_base)
  set(dataflow millrace_dataflow)
  set(realtime millrace_realtime)
  set(others millrace ${rooms})
  list(REMOVE_ITEM others ${base} ${dataflow} ${realtime})
  install(TARGETS ${base} EXPORT millraceBaseTargets)
  install(TARGETS ${dataflow} EXPORT millraceDataflowTargets)
  install(TARGETS ${realtime} EXPORT millraceRealtimeTargets)
  install(TARGETS ${others} EXPORT millraceTargets)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace
          FILES_MATCHING PATTERN "*.h" PATTERN cli EXCLUDE)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/millrace)
  install(EXPORT millraceBaseTargets NAMESPACE millrace:: DESTINATION ${folder})
  install(EXPORT millraceDataflowTargets NAMESPACE millrace:: DESTINATION ${folder})
  install(EXPORT millraceRealtimeTargets NAMESPACE millrace:: DESTINATION ${folder})
  install(EXPORT millraceTargets NAMESPACE millrace:: DESTINATION ${folder})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/millraceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/millraceConfig.cmake INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/millraceConfig.cmake
                ${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_dataflow_dependencies.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_dependencies.cmake
                ${PROJECT_SOURCE_DIR}/cmake/millrace_onednn.cmake
          DESTINATION ${folder})
  list(REMOVE_ITEM others millrace)  # no archive of its own
  install_pkg_config_files("${others};${realtime};${dataflow};${base}")
endfunction()

# install_pkg_config_files(TARGETS): millrace.pc, millrace-dataflow.pc and millrace-realtime.pc.
function(install_pkg_config_files targets)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH from_pc_to_prefix /${folder} /)
  list(TRANSFORM targets PREPEND -l OUTPUT_VARIABLE archives)
  list(JOIN archives " " archives)
  set(libraries ${MILLRACE_ONNX_PROTO} -lpagmo -lboost_serialization ${MILLRACE_OPENCV_core}
      ${MILLRACE_OPENCV_imgproc} -l${CMAKE_DL_LIBS} -pthread)
  if(MILLRACE_ENGINE_ONEDNN)
    list(APPEND libraries ${MILLRACE_DNNL})
  endif()
  if(OpenMP_CXX_FOUND)
    list(APPEND libraries ${OpenMP_CXX_FLAGS})
  endif()
  list(JOIN libraries " " libraries)
  foreach(name millrace millrace-dataflow millrace-realtime)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${folder})
  endforeach()
endfunction()
