# CUDA C++ to PTX by clang, without a CUDA toolkit. Used by the workloads and by projects that find_package(weft).
#
#   weft_add_ptx(OUTPUT SOURCE [FLAGS flag...] [INCLUDES folder...] [DEPENDS file...])
#
# makes the file OUTPUT from the CUDA source SOURCE when something depends on it. Kernels may include
# "weft/workloads/device.h", which declares threadIdx, __shared__ and so on for clang. Mathematical functions come from libclc,
# as bitcode that is inlined. Needs the Debian packages clang-19 and libclc-19.
#
# The PTX names SOURCE and headers relative to their folders. It is thus the same text wherever a project lies, and a GPU
# that reads it in simulated time takes the same time.
find_program(WEFT_CLANG NAMES clang++-19 clang-19 REQUIRED)
find_file(WEFT_LIBCLC nvptx64--nvidiacl.bc PATHS /usr/lib/clc /usr/share/clc REQUIRED)

set(WEFT_PTX_FLAGS -x cuda --cuda-path=/nonexistent --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_35
    -std=c++17 -O2 -gline-directives-only -Wall -Wextra
    -Wno-linker-warnings  # libclc is built for OpenCL's name of the same target
    -Xclang -mlink-builtin-bitcode -Xclang ${WEFT_LIBCLC})

function(weft_add_ptx output source)
  cmake_parse_arguments(P "" "" "FLAGS;INCLUDES;DEPENDS" ${ARGN})
  get_filename_component(name ${source} NAME)
  get_filename_component(path ${source} ABSOLUTE)
  get_filename_component(folder ${path} DIRECTORY)
  set(relative)
  foreach(place IN LISTS P_INCLUDES ITEMS ${folder})
    list(APPEND relative -ffile-prefix-map=${place}/=)
  endforeach()
  list(TRANSFORM P_INCLUDES PREPEND -I)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${WEFT_CLANG} ${WEFT_PTX_FLAGS} ${relative} ${P_FLAGS} ${P_INCLUDES} -S ${source} -o ${output}
    DEPENDS ${source} ${P_DEPENDS}
    COMMENT "Compiling ${name} to PTX" VERBATIM)
endfunction()
