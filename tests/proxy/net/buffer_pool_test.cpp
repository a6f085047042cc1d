#include "proxy/net/buffer_pool.hpp"

#include <gtest/gtest.h>

namespace brink::net {
namespace {

TEST(BufferPool, GivesTheSmallestClassThatFits) {
  BufferPool pool;
  EXPECT_EQ(pool.get(1).capacity(), BufferPool::small);
  EXPECT_EQ(pool.get(BufferPool::small + 1).capacity(), BufferPool::medium);
  EXPECT_EQ(pool.get(BufferPool::large).capacity(), BufferPool::large);
  EXPECT_EQ(pool.get(BufferPool::huge + 7).capacity(), BufferPool::huge + 7);
}

TEST(BufferPool, CountsWhatIsLent) {
  BufferPool pool;
  Buffer one = pool.get(100);
  Buffer two = pool.get(BufferPool::large);
  EXPECT_EQ(pool.bytes_lent(), BufferPool::small + BufferPool::large);
  one = std::move(two);  // gives the first back
  EXPECT_EQ(pool.bytes_lent(), BufferPool::large);
  one.reset();
  EXPECT_EQ(pool.bytes_lent(), 0U);
}

TEST(BufferPool, KeepsABoundedNumberOfFreeBlocks) {
  BufferPool pool;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 200; ++i) buffers.push_back(pool.get(BufferPool::large));
  buffers.clear();
  EXPECT_EQ(pool.bytes_lent(), 0U);
  EXPECT_LE(pool.bytes_kept(), 4U * 1024 * 1024);
}

}  // namespace
}  // namespace brink::net
