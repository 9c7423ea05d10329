# CUDA programs without nvcc: clang compiles both sides, and the host code carries a fat binary that pack_fatbin makes of the
# PTX. They include the headers of runtime/cuda/include.
#
#   weft_cuda_program(NAME PACKING RUNTIME SOURCES a.cu b.cu [DEPENDS header...])
#
# PACKING is that of the fat binary: plain, lz4, zstd, or machine-code for one without PTX. RUNTIME is the target of a
# library with the runtime API.
add_executable(pack_fatbin ${CMAKE_CURRENT_LIST_DIR}/pack_fatbin.cpp)
target_link_libraries(pack_fatbin PRIVATE weft::fatbin)
find_program(WEFT_CLANGXX clang++-19 REQUIRED)

function(weft_cuda_program name packing runtime)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SOURCES;DEPENDS")
  set(include ${PROJECT_SOURCE_DIR}/runtime/cuda/include)
  set(flags -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_75 -std=c++17 -O2 -Wall -Wextra
      -Werror -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR} -I${include}
      # The interface of launches and registrations of CUDA 9.2 and later; printf in kernels.
      -Xclang -target-sdk-version=12.3 -Xclang -fcuda-allow-variadic-functions)
  set(depends ${arg_DEPENDS} ${PROJECT_SOURCE_DIR}/include/weft/workloads/device.h ${include}/weft/cuda_runtime.h
      ${include}/weft/cuda_structures.h)
  set(objects)
  foreach(source ${arg_SOURCES})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE in)
    cmake_path(GET source FILENAME file)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}_${file})
    add_custom_command(OUTPUT ${out}.ptx
      COMMAND ${WEFT_CLANGXX} ${flags} --cuda-device-only -S ${in} -o ${out}.ptx DEPENDS ${in} ${depends} VERBATIM)
    add_custom_command(OUTPUT ${out}.fatbin COMMAND pack_fatbin ${packing} ${out}.ptx ${out}.fatbin
      DEPENDS pack_fatbin ${out}.ptx VERBATIM)
    add_custom_command(OUTPUT ${out}.o
      COMMAND ${WEFT_CLANGXX} ${flags} --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang ${out}.fatbin
              -c ${in} -o ${out}.o
      DEPENDS ${out}.fatbin ${in} ${depends} VERBATIM)
    list(APPEND objects ${out}.o)
  endforeach()
  add_executable(${name} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE weft_flags ${runtime} Threads::Threads)
endfunction()
