// State as bytes, and back: what a module has to remember from one launch to the next.
//
//   struct State {
//     std::vector<Line> lines;
//     Ring<Request> queue;
//     std::uint64_t clock = 0;
//     void archive(Archive& archive) {
//       auto& [lines_, queue_, clock_] = *this;       // a field more or less does not compile
//       archive(lines_, at_rest(queue_), clock_);
//     }
//   };
//   Archive out; out(state); save(out.bytes());
//   Archive in(bytes); in(state); in.end();
//
// The same function writes and reads. Each field is one of three:
//   kept            written and read: numbers, enumerations, texts, containers, what has `archive` itself
//   at_rest(x)      empty, zero or null between two launches; NotAtRest if it is not, and then nothing is
//                   written
//   set_anew(x...)  the next kernel, or the next use, sets it before it reads it
// Constants are skipped. Bytes are those of this machine, for the same build of the same program.
#ifndef WEFT_COMMON_ARCHIVE_H
#define WEFT_COMMON_ARCHIVE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

// Something is still under way where nothing should be.
class NotAtRest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// The bytes are not those of such a state.
class BadArchive : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Archive;

namespace archives {

template <class T>
struct AtRest {
  T& value;
};
struct SetAnew {};

template <class T, class = void>
struct HasArchive : std::false_type {};
template <class T>
struct HasArchive<T, std::void_t<decltype(std::declval<T&>().archive(std::declval<Archive&>()))>>
    : std::true_type {};

template <class T, class = void>
struct IsContainer : std::false_type {};
template <class T>
struct IsContainer<T, std::void_t<decltype(std::declval<T&>().empty())>> : std::true_type {};

}  // namespace archives

template <class T>
archives::AtRest<T> at_rest(T& value) {
  return {value};
}
template <class... T>
archives::SetAnew set_anew(T&...) {
  return {};
}

class Archive {
 public:
  Archive() = default;                                                               // writes
  explicit Archive(std::string bytes) : writes_(false), bytes_(std::move(bytes)) {}  // reads

  bool writes() const { return writes_; }
  const std::string& bytes() const { return bytes_; }

  // In the order of the call.
  template <class... Field>
  void operator()(Field&&... fields) {
    (one(fields), ...);
  }
  // A name between the parts: reading something else than was written shows here.
  void mark(const std::string& name) {
    std::string found = name;
    one(found);
    if (found != name) throw BadArchive("found '" + found + "' where '" + name + "' should be");
  }
  void raw(void* data, std::size_t bytes) {
    if (writes_) {
      bytes_.append(static_cast<const char*>(data), bytes);
      return;
    }
    if (bytes > bytes_.size() - at_) throw BadArchive("ends too early");
    std::memcpy(data, bytes_.data() + at_, bytes);
    at_ += bytes;
  }
  // Reads from the beginning again.
  void rewind() { at_ = 0; }
  // Reading has come to the end of the bytes.
  void end() const {
    if (!writes_ && at_ != bytes_.size())
      throw BadArchive("has " + std::to_string(bytes_.size() - at_) + " bytes too many");
  }

 private:
  template <class T>
  void one(T& field) {
    if constexpr (std::is_const_v<T>) {
      return;
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = field ? 1 : 0;  // a bool of another value than 0 and 1 must not come to be
      raw(&byte, sizeof byte);
      if (byte > 1) throw BadArchive("found " + std::to_string(byte) + " where 0 or 1 should be");
      field = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      raw(&field, sizeof field);
    } else {
      static_assert(archives::HasArchive<T>::value, "needs at_rest, set_anew, or a function `archive`");
      field.archive(*this);
    }
  }
  void one(archives::SetAnew&) {}
  template <class T>
  void one(archives::AtRest<T>& field) {
    if (writes_ && !rests(field.value)) throw NotAtRest("something is under way");
  }
  template <class T>
  static bool rests(const T& value) {
    if constexpr (archives::IsContainer<T>::value) {
      return value.empty();
    } else {
      return value == T();
    }
  }
  void one(std::string& text) {
    const std::size_t size = length(text.size(), 1);
    text.resize(size);
    raw(text.data(), size);
  }
  template <class T>
  void one(std::vector<T>& list) {
    list.resize(length(list.size(), 1), T());
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (!list.empty()) raw(list.data(), list.size() * sizeof(T));
    } else {
      for (T& element : list) one(element);
    }
  }
  // Elements that have no state by default keep their number, which the configuration gives.
  void one(std::vector<bool>& list) {
    list.resize(length(list.size(), 1));
    for (auto&& element : list) {
      bool bit = element;
      one(bit);
      element = bit;
    }
  }
  template <class T>
  void one(std::deque<T>& list) {
    list.resize(length(list.size(), 1));
    for (T& element : list) one(element);
  }
  template <class T, std::size_t kCount>
  void one(std::array<T, kCount>& list) {
    for (T& element : list) one(element);
  }
  template <class Key, class Value>
  void one(std::map<Key, Value>& map) {
    std::size_t size = length(map.size(), 1);
    if (writes_) {
      for (auto& [key, value] : map) {
        Key copy = key;
        (*this)(copy, value);
      }
      return;
    }
    map.clear();
    for (; size != 0; --size) {
      Key key{};
      one(key);
      one(map[key]);
    }
  }
  // No more elements than bytes are left: a wrong length must not take memory.
  std::size_t length(std::size_t now, std::size_t least_bytes) {
    std::uint64_t size = now;
    one(size);
    if (!writes_ && size > (bytes_.size() - at_) / least_bytes) throw BadArchive("ends too early");
    return size;
  }

  bool writes_ = true;
  std::string bytes_;
  std::size_t at_ = 0;
};

// A list whose length the configuration gives, of elements that need it to be made.
template <class List>
void archive_each(Archive& archive, List& list) {
  std::uint64_t size = list.size();
  archive(size);
  if (size != list.size()) throw BadArchive("has lists of another length");
  for (auto& element : list) archive(element);
}

}  // namespace weft

#endif
