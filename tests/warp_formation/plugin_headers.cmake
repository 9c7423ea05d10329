# cmake -DSCRIPT=.../plugin_headers.cmake -DFOLDER=SCRATCH -P plugin_headers.cmake: the hash by which plugins are known
# changes with the headers that the contracts of schemes and other parts include, and with no other.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
set(public ${FOLDER}/weft)

function(hash result)
  execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDER=${public} -DOUTPUT=${FOLDER}/hash.h -P ${SCRIPT}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/hash.h text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(WRITE ${public}/warp_formation/scheme.h "#include <vector>\n#include \"weft/common/first.h\"  // why\n")
file(WRITE ${public}/common/first.h "#include \"weft/common/second.h\"\n#include \"weft/warp_formation/scheme.h\"\n")
file(WRITE ${public}/common/second.h "int second;\n")
set(parts cache/replacement.h cache/set_index.h dram/request_order.h)
foreach(header IN LISTS parts)
  file(WRITE ${public}/${header} "int part;\n")
endforeach()
file(WRITE ${public}/sm/other.h "int other;\n")
hash(before)

file(WRITE ${public}/sm/other.h "long other;\n")
hash(after)
if(NOT after STREQUAL before)
  message(SEND_ERROR "a header that no contract includes changed the hash")
endif()

foreach(header warp_formation/scheme.h common/first.h common/second.h ${parts})
  file(APPEND ${public}/${header} "// changed\n")
  hash(after)
  if(after STREQUAL before)
    message(SEND_ERROR "${header} changed, and the hash did not")
  endif()
  set(before "${after}")
endforeach()
