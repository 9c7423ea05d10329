// A first-in-first-out queue of fixed capacity; allocates at construction only.
#ifndef WEFT_COMMON_RING_H
#define WEFT_COMMON_RING_H

#include <cstddef>
#include <vector>

namespace weft {

template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity = 0) : slots_(capacity) {}

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == slots_.size(); }
  std::size_t size() const { return count_; }
  std::size_t capacity() const { return slots_.size(); }

  // Not when full.
  void push(const T& value) {
    std::size_t at = head_ + count_;
    if (at >= slots_.size()) at -= slots_.size();
    slots_[at] = value;
    ++count_;
  }
  // Not when empty.
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  void pop() {
    if (++head_ == slots_.size()) head_ = 0;
    --count_;
  }
  // The element `offset` places behind the front.
  T& at(std::size_t offset) {
    std::size_t at = head_ + offset;
    if (at >= slots_.size()) at -= slots_.size();
    return slots_[at];
  }
  void clear() { head_ = count_ = 0; }

 private:
  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace weft

#endif
