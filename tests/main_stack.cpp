// SystemC tells AddressSanitizer of every switch between coroutines, but of the main one it names no stack.
// Then an exception leaves marks of frames that are gone, which later frames trip over, and the leak check
// reads where nothing is. This stands before the sanitizer's own function and says where the main stack lies.
// Sanitized builds only.
#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>

namespace {

struct Stack {
  void* bottom = nullptr;
  std::size_t bytes = 0;
};

Stack stack_of_this_thread() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  pthread_attr_getstack(&attributes, &stack.bottom, &stack.bytes);
  pthread_attr_destroy(&attributes);
  return stack;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" __attribute__((visibility("default"), no_sanitize("address"))) void __sanitizer_start_switch_fiber(
    void** fake_stack, const void* bottom, std::size_t bytes) {
  using Function = void (*)(void**, const void*, std::size_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "__sanitizer_start_switch_fiber"));
  static const Stack main = stack_of_this_thread();
  if (bytes == 0) {
    bottom = main.bottom;
    bytes = main.bytes;
  }
  next(fake_stack, bottom, bytes);
}
