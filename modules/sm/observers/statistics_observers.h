// The observers that count statistics of an SM's own, as `sm.observe` asks for. A new one of them is a file
// here and a line in statistics_observers.cpp.
#ifndef WEFT_SM_OBSERVERS_STATISTICS_OBSERVERS_H
#define WEFT_SM_OBSERVERS_STATISTICS_OBSERVERS_H

#include <memory>
#include <vector>

#include "sm/sm_observer.h"

namespace weft::sm {

class Sm;

// Not attached yet.
std::vector<std::unique_ptr<SmObserver>> statistics_observers(const Sm& sm);

}  // namespace weft::sm

#endif
