# What `cmake --install` gives: the program, one archive with all modules (and one with the schemes and other parts, which is
# linked whole because they register themselves), headers, configurations, a CMake package and a pkg-config file; for who
# puts the GPU into a platform: a guide, examples, the registers as SVD, and the sources of the drivers.
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY WEFT_MODULES)
get_property(parts GLOBAL PROPERTY WEFT_PARTS)
# The program's own modules, and the parts, which stay apart.
list(REMOVE_ITEM modules weft_cli weft_cuda_settings weft_fatbin weft_workloads ${parts})
list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(weft_archive STATIC ${objects})
set_target_properties(weft_archive PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE CXX)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE part_objects)
add_library(weft_parts_archive STATIC ${part_objects})
set_target_properties(weft_parts_archive PROPERTIES OUTPUT_NAME weft_parts LINKER_LANGUAGE CXX)

set(headers_folder ${CMAKE_INSTALL_INCLUDEDIR}/weft)
set(configs_folder ${CMAKE_INSTALL_DATADIR}/weft/configs)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES $<TARGET_FILE:weft_archive> $<TARGET_FILE:weft_parts_archive> $<TARGET_FILE:weft_plugin>
        DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_BINARY_DIR}/sc_main/version DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
install(FILES ${PROJECT_BINARY_DIR}/sc_main/weft.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/sc_main/weft.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weft)
install(DIRECTORY include/weft/ DESTINATION ${headers_folder})
install(FILES ${PROJECT_BINARY_DIR}/modules/host/include/weft/weft_registers.h DESTINATION ${headers_folder})
install(DIRECTORY configs/ DESTINATION ${configs_folder})
install(DIRECTORY experiments/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/experiments USE_SOURCE_PERMISSIONS PATTERN results EXCLUDE)
install(DIRECTORY experiments/results/data DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/experiments/results)
install(DIRECTORY study/page/report_page DESTINATION ${CMAKE_INSTALL_DATADIR}/weft
        FILES_MATCHING PATTERN "*.js" PATTERN "*.css" PATTERN "*.html")
install(FILES ${PROJECT_BINARY_DIR}/study/page/report_page/charts.min.js DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/report_page
        OPTIONAL)
install(CODE "set(folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/weft/vcd\")
  foreach(name weft sc_trace)
    configure_file(${PROJECT_BINARY_DIR}/vcd/save_files/\${name}.gtkw.in ${PROJECT_BINARY_DIR}/vcd/save_files/\${name}.gtkw)
  endforeach()")
install(FILES vcd/stall.txt ${PROJECT_BINARY_DIR}/vcd/save_files/weft.gtkw ${PROJECT_BINARY_DIR}/vcd/save_files/sc_trace.gtkw
  DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/vcd)
install(DIRECTORY platform/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
install(FILES platform/INTEGRATION.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${WEFT_SVD} ${WEFT_DEVICE_TREE} DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
set(drivers_folder ${CMAKE_INSTALL_DATADIR}/weft/drivers)
install(DIRECTORY platform/driver platform/external platform/firmware platform/linux platform/qemu DESTINATION ${drivers_folder}
        USE_SOURCE_PERMISSIONS PATTERN CMakeLists.txt EXCLUDE)
install(FILES modules/soc/external_protocol.h DESTINATION ${drivers_folder}/external)
install(FILES platform/linux/library/weft_device.h DESTINATION ${headers_folder})
install(TARGETS weft_device weft_device_shared DESTINATION ${CMAKE_INSTALL_LIBDIR})

configure_package_config_file(platform/package/weft-config.cmake.in ${PROJECT_BINARY_DIR}/weft-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR configs_folder CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR
            drivers_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
        platform/package/WeftPlugin.cmake platform/package/WeftPtx.cmake platform/package/plugin_headers.cmake
        modules/common/plugin_entry.cpp modules/common/plugin_abi.h modules/common/part_table.h
        DESTINATION ${package_folder})

# The prefix is known when the files are installed, not before (cmake --install --prefix).
set(prefix "@prefix@")
configure_file(platform/package/weft.pc.in weft.pc.in @ONLY)
install(CODE "set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
configure_file(\"${PROJECT_BINARY_DIR}/weft.pc.in\" \"${PROJECT_BINARY_DIR}/weft.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Everything that users run or install, without the tests.
add_custom_target(product DEPENDS weft weft_manual weft_archive weft_parts_archive weft_plugin weft_cuda weft_device weft_device_shared)
if(WEFT_NPM)
  add_dependencies(product report_charts)
endif()
foreach(part weft_cpu_cores bfs_firmware bfs_client qemu_guest linux_demo)
  if(TARGET ${part})
    add_dependencies(product ${part})
  endif()
endforeach()
