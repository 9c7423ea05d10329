// The table of derived values with one row more, for the program `weft_with_row`.
#include <vector>

#include "measures/measures.h"

namespace weft::measures {

Rows rows_of_weft();

Rows rows() {
  static const std::vector<Definition> list = [] {
    std::vector<Definition> all(rows_of_weft().begin(), rows_of_weft().end());
    all.push_back(Definition("written_per_request", "bytes written per request",
                             statistics::Unit("bytes per request"), "Bytes of writes per data request.")
                      .ratio({kWriteBytes}, {kDataRequests})
                      .in_comparison(Subject::kThreads, "written", "bytes of writes per data request"));
    return all;
  }();
  return {list.data(), list.data() + list.size()};
}

}  // namespace weft::measures
