# `cpack -G DEB` in the build folder (or `./weft package`): what is installed, as a Debian package. Libraries that it
# needs are found by dpkg-shlibdeps; what only some users need is suggested.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_CONTACT "The maintainers of Weft <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Weft runs PTX kernels and CUDA programs on a model of a whole GPU, and compares what schemes of warp formation\n\
do to it. The package has the program, CUDA's libraries over the simulated GPU, configurations, and headers and a\n\
library for platforms in SystemC.")
set(CPACK_STRIP_FILES ON)
# Installed below DESTDIR, so that paths in files are those of the package.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib/weft-cuda)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clang-19, g++, libsystemc-dev, nlohmann-json3-dev, bash-completion, gtkwave, python3-matplotlib")
# The version is that of the sources when the package is made.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/deb_version.cmake)
set(CPACK_WEFT_VERSION_FILE ${PROJECT_BINARY_DIR}/sc_main/version)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
include(CPack)
