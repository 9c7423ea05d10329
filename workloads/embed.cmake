# Makes a C++ source that holds the text of INPUT as weft::workloads::embedded::NAME.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include \"workloads/embedded.h\"

const char* const weft::workloads::embedded::${NAME} = R\"PTX(${text})PTX\";
")
