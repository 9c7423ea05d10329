// Shows instructions of an SM to an execute::AccessObserver, which sees their accesses by itself.
#ifndef WEFT_SM_OBSERVERS_ACCESS_VIEW_H
#define WEFT_SM_OBSERVERS_ACCESS_VIEW_H

#include "execute/access_observer.h"
#include "sm/sm.h"
#include "sm/sm_observer.h"

namespace weft::sm {

class AccessView final : public SmObserver {
 public:
  explicit AccessView(Sm& sm) : sm_(sm) {}

  // To `observer` from now on; nullptr: to nobody.
  void show_to(execute::AccessObserver* observer);

  void issued(const Issue& issue) override;
  void executed(const InFlight& flight) override;

 private:
  template <class Show>
  void each_group(const InFlight& flight, Show&& show) const;

  Sm& sm_;
  execute::AccessObserver* observer_ = nullptr;
  bool sees_instructions_ = false;
};

}  // namespace weft::sm

#endif
