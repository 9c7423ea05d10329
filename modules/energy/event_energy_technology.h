// A technology: figures of energy, each with its unit, its source and what the sources leave open.
//
//   const Technology technology = Technology::read("configs/technology/40nm.json", 28);   // scaled to 28 nm
//   const Figure& issue = technology.at("issue");
#ifndef WEFT_ENERGY_EVENT_ENERGY_TECHNOLOGY_H
#define WEFT_ENERGY_EVENT_ENERGY_TECHNOLOGY_H

#include <map>
#include <string>
#include <string_view>

namespace weft::energy {

struct Figure {
  double value = 0;
  double low = 1, high = 1;  // factors
  std::string unit, basis, source;
};

class Technology {
 public:
  // `node_nm` = 0: the file's own. Throws InputError for what is missing, unknown, or in another unit.
  static Technology read(const std::string& path, double node_nm);

  const std::string& name() const { return name_; }
  double node_nm() const { return node_nm_; }
  // std::logic_error for a name that no file has.
  const Figure& at(std::string_view figure) const;
  const std::map<std::string, Figure, std::less<>>& figures() const { return figures_; }

 private:
  std::string name_;
  double node_nm_ = 0;
  std::map<std::string, Figure, std::less<>> figures_;
};

}  // namespace weft::energy

#endif
