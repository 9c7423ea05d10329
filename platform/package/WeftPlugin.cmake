# Parts (warp-formation schemes, replacement policies, orders and others) as shared objects that `weft --plugin FILE` and weft::load_plugin() load.
#
#   weft_add_plugin(NAME SOURCES file...)
#
# builds NAME.so of files that end in WEFT_REGISTER_SCHEME(...) or WEFT_REGISTER_PART(...). It needs no symbol of the program
# that loads it, and shows only the functions by which it is known (modules/common/plugin_abi.h). It has a hash of the headers
# that the contracts of parts include, as they are when it is built. The header with that hash is in the binary folder, and is
# made again when a public header changes.
function(weft_plugin_headers folder output)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin_headers.cmake)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.h)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -P ${script}
    DEPENDS ${headers} ${script}
    COMMENT "Hashing the contracts of parts" VERBATIM)
endfunction()

function(weft_add_plugin name)
  cmake_parse_arguments(P "" "" "SOURCES" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin)
  weft_plugin_headers(${weft_HEADERS} ${folder}/weft_plugin_headers.h)
  add_library(${name} MODULE ${P_SOURCES} ${weft_PLUGIN_ENTRY} ${folder}/weft_plugin_headers.h)
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name} PRIVATE ${folder})
  target_link_libraries(${name} PRIVATE weft::plugin)
  if(NOT WEFT_SANITIZE)  # whose functions are the program's
    target_link_options(${name} PRIVATE -Wl,-z,defs -Wl,-z,start-stop-visibility=hidden)
  endif()
endfunction()
