# Debian packages, by CPack: what scripts/deb makes. After all install() calls.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME millrace)
set(CPACK_PACKAGE_VENDOR "Millrace")
set(CPACK_PACKAGE_CONTACT "Millrace maintainers <maintainers@users.noreply.millrace.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library development)
if(TARGET millrace_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(TARGET gstmillrace)
  list(APPEND CPACK_COMPONENTS_ALL gstreamer)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(MILLRACE_DEBIAN_RELEASE 1 CACHE STRING "Which package of this version it is")
set(CPACK_DEBIAN_PACKAGE_RELEASE ${MILLRACE_DEBIAN_RELEASE})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
       ${MILLRACE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} ${MILLRACE_SYSROOT}/usr/lib)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# debian_package(COMPONENT NAME SECTION TEXT DEPENDS): what stands in the control file.
function(debian_package component name section text depends)
  string(TOUPPER ${component} id)
  set(CPACK_DEBIAN_${id}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${id}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${id}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${id}_DESCRIPTION "${text}" PARENT_SCOPE)
  foreach(file copyright changelog.Debian.gz)
    install(FILES ${PROJECT_BINARY_DIR}/debian/${file} DESTINATION share/doc/${name}
            COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endfunction()
set(package libmillrace${MILLRACE_INTERFACE})
set(same "(= ${PROJECT_VERSION}-${MILLRACE_DEBIAN_RELEASE})")
set(what "Millrace reads trained networks, and measures their layers on each processor.\n\
It searches for the fastest way to share the work, proves it and runs it.")
debian_package(program millrace science
               "${what}\nThis package has the command." "${package} ${same}")
debian_package(library ${package} libs
               "${what}\nThis package has the shared library, which also reads pictures and videos." "")
debian_package(development libmillrace-dev libdevel
               "${what}\nThis package has the headers, and what CMake and pkg-config find."
               "${package} ${same}, libfmt-dev, libpugixml-dev")
math(EXPR next "${Python_VERSION_MINOR} + 1")
debian_package(python python3-millrace python
               "${what}\nThis package has the module millrace."
               "${package} ${same}, python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), \
python3 (<< ${Python_VERSION_MAJOR}.${next}), python3-numpy")
debian_package(gstreamer gstreamer1.0-millrace libs
               "${what}\nThis package has the element millrace for GStreamer." "${package} ${same}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(python_scripts postinst prerm)
set(python_calls py3compile py3clean)
# What Python compiles beside the module goes with it.
foreach(script call IN ZIP_LISTS python_scripts python_calls)
  file(WRITE ${PROJECT_BINARY_DIR}/debian/${script} "#!/bin/sh\nset -e\n\n\
if command -v ${call} >/dev/null; then ${call} -p python3-millrace; fi\n")
  file(CHMOD ${PROJECT_BINARY_DIR}/debian/${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
       GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/debian/postinst;${PROJECT_BINARY_DIR}/debian/prerm")
install(CODE "execute_process(COMMAND sh -c \"gzip -9nf \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man1/*\")"
        COMPONENT program)

file(WRITE ${PROJECT_BINARY_DIR}/debian/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Millrace

Files: *
Copyright: 2026 the Millrace authors
License: Apache-2.0
 On Debian systems, the text of the license is in /usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${PROJECT_BINARY_DIR}/debian/changelog.Debian
"millrace (${PROJECT_VERSION}-${MILLRACE_DEBIAN_RELEASE}) unstable; urgency=medium

  * See CHANGELOG.md of the source.

 -- ${CPACK_PACKAGE_CONTACT}  Sun, 29 Nov 2026 12:00:00 +0000
")
execute_process(COMMAND gzip -9nf changelog.Debian WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/debian)
include(CPack)
