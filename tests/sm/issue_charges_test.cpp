// Which instruction is charged with a scheduler's cycles, by hand.
#include "sm/observers/issue_charges.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::sm::issue_charges_test {
namespace {

using warp_formation::Stall;

std::uint64_t in(const InstructionCounts& counts, Stall bucket) {
  return counts.cycles[static_cast<std::size_t>(bucket)];
}
std::uint64_t all(const InstructionCounts& counts) {
  return std::accumulate(counts.cycles.begin(), counts.cycles.end(), std::uint64_t{0});
}

TEST(IssueCharges, WaitsAreOfTheNextIssue) {
  CycleAccount account(1, 1, false, false);
  IssueCharges charges(1);
  InstructionCounts load, use, second, rest;
  account.start(10);
  charges.start(account);
  account.bring_to(12);  // without threads
  charges.issued(12, 0, account, load, rest);
  account.set(0, Stall::kNone);
  account.bring_to(13);
  account.set(0, Stall::kFetch);
  account.bring_to(14);
  account.set(0, Stall::kMemory);
  account.bring_to(17);
  charges.issued(17, 0, account, use, rest);
  charges.issued(17, 0, account, second, rest);  // two in a cycle: the first has it
  account.set(0, Stall::kNone);
  account.bring_to(18);
  account.set(0, Stall::kBarrier);
  account.bring_to(20);
  charges.settle(account, rest);

  EXPECT_EQ(in(rest, Stall::kEmpty), 2u);
  EXPECT_EQ(in(load, Stall::kNone), 1u);
  EXPECT_EQ(all(load), 1u);
  EXPECT_EQ(in(use, Stall::kNone), 1u);
  EXPECT_EQ(in(use, Stall::kFetch), 1u);
  EXPECT_EQ(in(use, Stall::kMemory), 3u);
  EXPECT_EQ(all(use), 5u);
  EXPECT_EQ(all(second), 0u);
  EXPECT_EQ(in(rest, Stall::kBarrier), 2u) << "nothing was issued any more";
  EXPECT_EQ(all(load) + all(use) + all(rest), 10u);
}

TEST(IssueCharges, SchedulersAndKernelsAreApart) {
  CycleAccount account(2, 1, false, false);
  IssueCharges charges(2);
  InstructionCounts a, b, rest;
  account.start(0);
  charges.start(account);
  account.set(0, Stall::kMemory);
  account.set(1, Stall::kDependence);
  account.bring_to(4);
  charges.issued(4, 1, account, b, rest);
  EXPECT_EQ(in(b, Stall::kDependence), 4u);
  EXPECT_EQ(in(b, Stall::kMemory), 0u);
  // The next kernel begins without what was not charged.
  account.start(4);
  charges.start(account);
  account.bring_to(6);
  charges.issued(6, 0, account, a, rest);
  EXPECT_EQ(all(a), 0u);
  EXPECT_EQ(in(rest, Stall::kEmpty), 2u);
}

}  // namespace
}  // namespace weft::sm::issue_charges_test
