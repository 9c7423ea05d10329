#include "common/config_writer.h"

#include <stdexcept>

namespace weft::config {

void Writer::integer(const char* key, std::uint64_t& value, IntegerRange /*allowed*/, const char* /*unit*/,
                     const char* /*meaning*/) {
  (*levels_.back())[key] = value;
}

void Writer::real(const char* key, double& value, RealRange /*allowed*/, const char* /*unit*/,
                  const char* /*meaning*/) {
  (*levels_.back())[key] = value;
}

void Writer::boolean(const char* key, bool& value, const char* /*meaning*/) {
  (*levels_.back())[key] = value;
}

void Writer::text(const char* key, std::string& value, const char* /*meaning*/) {
  (*levels_.back())[key] = value;
}

void Writer::word(const char* key, std::string& value, const std::vector<std::string>& /*allowed*/,
                  const char* /*meaning*/) {
  (*levels_.back())[key] = value;
}

void Writer::preset(const char* /*key*/, const char* /*meaning*/) {}

void Writer::begin(const char* key, const char* /*meaning*/) {
  nlohmann::ordered_json& object = (*levels_.back())[key];
  if (object.is_null()) object = nlohmann::ordered_json::object();
  levels_.push_back(&object);
}

void Writer::end() {
  if (levels_.size() == 1) throw std::logic_error("config::Writer: end() without begin()");
  levels_.pop_back();
}

const nlohmann::ordered_json& Writer::document() const {
  if (levels_.size() != 1) throw std::logic_error("config::Writer: begin() without end()");
  return document_;
}

}  // namespace weft::config
