// Names of C++ functions as their source has them.
#ifndef WEFT_COMMON_DEMANGLE_H
#define WEFT_COMMON_DEMANGLE_H

#include <string>

namespace weft {

// "_Z5scaleIfEvPT_i": "void scale<float>(float*, int)". Other names come back as they are.
std::string demangled_name(const std::string& name);
// The function alone: "scale<float>".
std::string function_name(const std::string& name);

}  // namespace weft

#endif
