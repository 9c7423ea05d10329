# cmake -DFOLDER=... -DOUTPUT=... -P plugin_headers.cmake: writes the header OUTPUT with a hash of all headers below FOLDER,
# their names and contents; leaves the file alone if it would be the same. By it a plugin and a program know each other.
file(GLOB_RECURSE headers RELATIVE ${FOLDER} ${FOLDER}/*.h)
list(FILTER headers INCLUDE REGEX "/")  # those beside the folders are for drivers and CUDA programs
list(SORT headers)
foreach(header IN LISTS headers)
  file(SHA256 ${FOLDER}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
set(text "#define WEFT_PLUGIN_HEADERS \"${hash}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUTPUT} "${text}")
endif()
