#include "engine/onednn/memory/weights.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/onednn/onednn.h"
#include "nets.h"
#include "support/temporary_folder.h"

namespace millrace::engine::onednn {
namespace {

using test::onednn::Net;
using test::onednn::noise;
using test::onednn::tagged;
using Tag = dnnl::memory::format_tag;

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

/// As an engine of its own has it.
struct KeptCache {
  explicit KeptCache(const std::shared_ptr<Store>& store, const std::string& packer = "one")
      : weights(engine, {store, packer}) {}

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  WeightCache weights;
};

class KeptWeights : public testing::Test {
 protected:
  static std::string content(const Packed& packed) {
    const auto size = static_cast<std::size_t>(size_of(packed.layout).count);
    return {reinterpret_cast<const char*>(packed.data()), size};
  }
  /// What is found for the packing by an engine object that has not packed it.
  std::shared_ptr<const Packed> found(const Packing& wanted, const std::string& packer = "one") {
    KeptCache cache(store, packer);
    return cache.weights.get(array, wanted);
  }

  Packing for_tiles(kernels::AmxFactors factors) const {
    kernels::AmxConvolution convolution;
    convolution.channels = 16;
    convolution.outputs = 32;
    convolution.height.window = convolution.width.window = 3;
    convolution.factors = factors;
    const auto count = static_cast<std::int64_t>(packed_size(convolution));
    return {packing.from, row_major_desc({count}, Type::u8), {}, convolution};
  }

  /// As many bytes with 8 lanes as with 16.
  Packing for_winograd(std::size_t tile, std::size_t lanes = 16) const {
    kernels::WinogradConvolution convolution;
    convolution.channels = 16;
    convolution.outputs = 32;
    convolution.tile = tile;
    convolution.lanes = lanes;
    const auto count = static_cast<std::int64_t>(packed_size(convolution));
    return {packing.from, row_major_desc({count}, Type::u8), {}, convolution};
  }

  test::TemporaryFolder folder;
  std::shared_ptr<Store> store = std::make_shared<Store>(folder.path(), Bytes{1 << 24});
  network::Array array = noise({32, 16, 3, 3}, 1);
  Packing packing{plain_desc(array.shape), tagged(array.shape, Tag::ABcd16b16a)};
};

TEST_F(KeptWeights, are_found_by_another_engine_object_bit_for_bit) {
  const Packing scaled{packing.from, packing.to, {{2.f}, 0}};
  for (const Packing& each :
       {packing, scaled, for_tiles(kernels::AmxFactors::split), for_winograd(4)}) {
    KeptCache first(store);
    const auto packed = first.weights.get(array, each);
    EXPECT_FALSE(packed->was_stored);
    const auto again = found(each);
    ASSERT_TRUE(again->was_stored);
    EXPECT_EQ(content(*again), content(*packed));
    Cache without;
    EXPECT_EQ(content(*without.weights.get(array, each)), content(*packed));
  }
}

TEST_F(KeptWeights, are_those_of_the_same_values_packing_and_packer_only) {
  found(packing);
  EXPECT_TRUE(found(packing)->was_stored);
  EXPECT_FALSE(found(packing, "another version")->was_stored);
  EXPECT_FALSE(found({packing.from, packing.to, {{3.f}, 0}})->was_stored);
  EXPECT_FALSE(found({packing.from, tagged(array.shape, Tag::acdb)})->was_stored);
  EXPECT_FALSE(found(for_tiles(kernels::AmxFactors::split))->was_stored);
  EXPECT_FALSE(found(for_tiles(kernels::AmxFactors::bf16))->was_stored);
  EXPECT_FALSE(found(for_winograd(2))->was_stored);
  EXPECT_FALSE(found(for_winograd(4))->was_stored);
  EXPECT_EQ(for_winograd(4, 8).to, for_winograd(4).to);
  EXPECT_FALSE(found(for_winograd(4, 8))->was_stored);
  array = noise({32, 16, 3, 3}, 2);
  EXPECT_FALSE(found(packing)->was_stored);
}

TEST_F(KeptWeights, that_are_damaged_are_packed_again_and_replaced) {
  const std::string good = content(*found(packing));
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::resize_file(file.path(), 1000);
  const auto again = found(packing);
  EXPECT_FALSE(again->was_stored);
  EXPECT_EQ(content(*again), good);
  const auto replaced = found(packing);
  EXPECT_TRUE(replaced->was_stored);
  EXPECT_EQ(content(*replaced), good);
}

TEST_F(KeptWeights, are_packed_all_the_same_where_nothing_can_be_kept) {
  const std::string good = content(*found(packing));
  store = std::make_shared<Store>("/dev/null/store", Bytes{1 << 24});
  const auto packed = found(packing);
  EXPECT_FALSE(packed->was_stored);
  EXPECT_EQ(content(*packed), good);
}

}  // namespace
}  // namespace millrace::engine::onednn
