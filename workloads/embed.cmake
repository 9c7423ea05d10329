# Makes a C++ source that holds the text of INPUT as weft::workloads::embedded::NAME, in pieces: a compiler need not take
# string literals above 65,535 characters.
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
set(literals "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 16000 piece)
  string(APPEND literals "\nR\"PTX(${piece})PTX\"")
  math(EXPR at "${at} + 16000")
endwhile()
file(WRITE ${OUTPUT} "namespace weft::workloads::embedded {
extern const char* const ${NAME};
const char* const ${NAME} = ${literals};
}  // namespace weft::workloads::embedded
")
