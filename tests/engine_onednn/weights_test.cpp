#include "engine/onednn/weights.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using test::onednn::Net;
using test::onednn::noise;
using Tag = dnnl::memory::format_tag;

Desc tagged(const Dims& shape, Tag tag) { return Desc(shape, dnnl::memory::data_type::f32, tag); }

struct Cache {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  WeightCache weights{engine};
};

TEST(weights, the_same_constant_in_the_same_layout_is_packed_once) {
  Cache cache;
  const auto array = noise({32, 16, 3, 3}, 1);
  const Packing packing{plain_desc(array.shape), tagged(array.shape, Tag::ABcd16b16a)};
  const auto a = cache.weights.get(array, packing), b = cache.weights.get(array, packing);
  EXPECT_EQ(a->data(), b->data());
  EXPECT_EQ(cache.weights.count(), 1u);
  const auto other = cache.weights.get(array, {packing.from, packing.to, {{2.f}, 0}});
  EXPECT_NE(other->data(), a->data());
  EXPECT_EQ(reinterpret_cast<const float*>(other->data())[0],
            2 * reinterpret_cast<const float*>(a->data())[0]);
}

TEST(weights, go_when_nobody_uses_them) {
  Cache cache;
  const auto array = noise({32, 16}, 1);
  cache.weights.get(array, {plain_desc(array.shape), tagged(array.shape, Tag::ba)});
  EXPECT_EQ(cache.weights.count(), 0u);
}

TEST(weights, that_lie_right_already_are_not_copied) {
  Cache cache;
  const auto array = noise({32, 16}, 1);
  const auto same = cache.weights.get(array, {plain_desc(array.shape), plain_desc(array.shape)});
  EXPECT_EQ(same->data(), array.memory->data());
}

TEST(weights, threads_that_pack_at_once_share_one_result) {
  Cache cache;
  const auto array = noise({256, 256}, 1);
  const Packing packing{plain_desc(array.shape), tagged(array.shape, Tag::ba)};
  std::vector<std::shared_ptr<const Packed>> found(8);
  std::vector<std::thread> threads;
  for (auto& slot : found) threads.emplace_back([&] { slot = cache.weights.get(array, packing); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& packed : found) EXPECT_EQ(packed, found[0]);
}

}  // namespace
}  // namespace millrace::engine::onednn
