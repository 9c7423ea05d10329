#include <gtest/gtest.h>

#include "bus/memory_transaction.h"

namespace weft {
namespace {

TEST(TransactionPool, HandsOutCleanPayloadsAfterUse) {
  TransactionPool pool;
  unsigned char data[64];
  unsigned char enables[1] = {0xff};
  tlm::tlm_generic_payload& first = pool.acquire(tlm::TLM_WRITE_COMMAND, 0x1000, data, 64);
  EXPECT_EQ(first.get_ref_count(), 1);
  EXPECT_TRUE(first.has_mm());
  EXPECT_EQ(first.get_streaming_width(), 64u);
  EXPECT_EQ(first.get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
  ASSERT_NE(origin_of(first), nullptr);
  origin_of(first)->tag = 99;
  first.set_response_status(tlm::TLM_OK_RESPONSE);
  first.set_dmi_allowed(true);
  first.set_byte_enable_ptr(enables);
  first.set_byte_enable_length(1);
  EXPECT_EQ(pool.in_use(), 1u);
  first.release();
  EXPECT_EQ(pool.in_use(), 0u);

  tlm::tlm_generic_payload& second = pool.acquire(tlm::TLM_READ_COMMAND, 0, data, 4);
  EXPECT_EQ(&second, &first) << "the pool reuses what came back";
  EXPECT_EQ(second.get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
  EXPECT_FALSE(second.is_dmi_allowed());
  EXPECT_EQ(second.get_byte_enable_ptr(), nullptr);
  EXPECT_EQ(origin_of(second)->tag, 0u);
  second.release();
}

TEST(TransactionPool, KeepsAPayloadUntilItsLastHolderReleases) {
  TransactionPool pool;
  tlm::tlm_generic_payload& payload = pool.acquire(tlm::TLM_READ_COMMAND, 0, nullptr, 4);
  payload.acquire();
  payload.release();
  EXPECT_EQ(pool.in_use(), 1u);
  payload.release();
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(TransactionOrigin, IsCopiedByDeepCopyAndAbsentFromForeignPayloads) {
  TransactionPool pool;
  tlm::tlm_generic_payload& payload = pool.acquire(tlm::TLM_READ_COMMAND, 0, nullptr, 0);
  origin_of(payload)->sm = 3;
  tlm::tlm_generic_payload foreign;
  EXPECT_EQ(origin_of(foreign), nullptr);
  foreign.deep_copy_from(payload);
  ASSERT_NE(origin_of(foreign), nullptr);
  EXPECT_EQ(origin_of(foreign)->sm, 3);
  payload.release();
}

}  // namespace
}  // namespace weft
