// Which Weft this is.
#ifndef WEFT_STUDY_SESSION_VERSION_H
#define WEFT_STUDY_SESSION_VERSION_H

#include <string>

namespace weft::study {

// "0.1.0-12-gabcdef0": the last release, the commits since, and the commit of the sources, as git described
// them when the program was built. Without git the number of the release.
//
// It stands in a file beside the program (share/weft/version, where it is installed) and not in the program:
// so a commit that changes no code leaves the program and its identity as they are, and runs that are done
// are done.
std::string version();

}  // namespace weft::study

#endif
