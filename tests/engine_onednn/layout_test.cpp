#include "engine/onednn/primitives/layout.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using test::onednn::tagged;
using Tag = dnnl::memory::format_tag;

TEST(layout, its_text_reads_back_as_the_same_layout) {
  const Dims shape{2, 20, 5, 7};
  for (const Tag tag : {Tag::nchw, Tag::nhwc, Tag::nChw16c, Tag::nChw8c, Tag::chwn}) {
    const Desc desc = tagged(shape, tag);
    const auto back = read_format(format_of({desc}), shape);
    ASSERT_TRUE(back.has_value()) << format_of({desc});
    EXPECT_EQ(back->desc, desc) << format_of({desc});
  }
  EXPECT_EQ(format_of({tagged(shape, Tag::nchw)}), "plain");
}

TEST(layout, its_text_reads_back_whatever_kernels_choose_for_images) {
  for (const Type type : {Type::f32, Type::bf16, Type::f16, Type::u8, Type::s8})
    for (const auto& [shape, tags] : std::vector<std::pair<Dims, std::vector<Tag>>>{
             {{1, 35, 9}, {Tag::nwc, Tag::nCw16c, Tag::nCw8c, Tag::nCw4c, Tag::NCw16n16c}},
             {{1, 35, 1, 9}, {Tag::nhwc, Tag::nChw16c, Tag::nChw4c, Tag::NChw16n16c}},
             {{32, 64, 2, 3, 4}, {Tag::ndhwc, Tag::nCdhw16c, Tag::nCdhw8c, Tag::NCdhw32n32c}}})
      for (const Tag tag : tags) {
        const Desc desc(shape, type, tag);
        const Encoding encoding{0.25f, tag == tags.front() ? 0 : 13};
        const std::string text = format_of({desc, encoding});
        const auto back = read_format(text, shape);
        ASSERT_TRUE(back.has_value()) << text;
        EXPECT_TRUE(same_memory(back->desc, desc)) << text;
        EXPECT_EQ(back->desc.get_size(), desc.get_size()) << text;
        EXPECT_EQ(back->encoding, encoding) << text;
      }
}

TEST(layout, is_the_same_for_numbers_of_another_type) {
  const Dims shape{2, 20, 5, 7};
  for (const Tag tag : {Tag::nchw, Tag::nhwc, Tag::nChw16c, Tag::chwn, Tag::any}) {
    const Desc other = retyped(tagged(shape, tag), Type::s8);
    EXPECT_EQ(other, Desc(shape, Type::s8, tag));
    EXPECT_EQ(retyped(other, Type::f32), tagged(shape, tag));
  }
}

TEST(layout, key_tells_layouts_apart) {
  const Dims shape{2, 20, 5, 7};
  std::set<std::string> keys;
  for (const Tag tag : {Tag::nchw, Tag::nhwc, Tag::nChw16c, Tag::nChw8c, Tag::chwn, Tag::any})
    for (const Type type : {Type::f32, Type::bf16, Type::f16, Type::s8, Type::u8})
      keys.insert(key_of(Desc(shape, type, tag)));
  EXPECT_EQ(keys.size(), 30u);
  EXPECT_EQ(key_of(tagged(shape, Tag::nChw16c)), key_of(tagged(shape, Tag::nChw16c)));
}

TEST(layout, text_that_is_no_layout_of_the_shape_is_refused) {
  const Dims shape{2, 20, 5, 7};
  const std::string good = format_of({tagged(shape, Tag::nChw16c)});
  EXPECT_FALSE(read_format(good, {2, 40, 5, 7}).has_value());
  EXPECT_FALSE(read_format(good, {2, 20, 5}).has_value());
  for (const char* bad :
       {"", "onednn:", "onednn:f32:1:1,2", "onednn:f32:1:1x,2,3,4", "reference:1", "onednn:x",
        "onednn:f64:1:2x20x5x7,1x1x1x1,,", "onednn:f32:1:2x32x5x7,1120x560x112x16,16,4",
        "onednn:f32:1:2x32x5x7,1x1x1x1,0,1", "onednn:f32:1:2x20x5x7,-1x1x1x1,,",
        "onednn:f32:1:99999999999999999999,1,,", "onednn:f32:1+:2x20x5x7,700x35x7x1,,",
        "onednn:f32:1+256:2x20x5x7,700x35x7x1,,", "onednn:f32:1+2x:2x20x5x7,700x35x7x1,,"})
    EXPECT_FALSE(read_format(bad, shape).has_value()) << bad;
}

TEST(layout, is_plain_when_the_memory_is_whatever_its_name) {
  EXPECT_TRUE(is_plain(tagged({1, 64, 1, 1}, Tag::nhwc)));
  EXPECT_TRUE(is_plain(tagged({3, 64, 1, 1}, Tag::nChw16c)));
  EXPECT_TRUE(is_plain(tagged({3, 1, 5, 5}, Tag::nhwc)));
  EXPECT_FALSE(is_plain(tagged({1, 64, 2, 1}, Tag::nhwc)));
  EXPECT_FALSE(is_plain(tagged({1, 20, 1, 1}, Tag::nChw16c)));
  EXPECT_FALSE(is_plain(tagged({1, 32, 2, 2}, Tag::nChw16c)));
  EXPECT_FALSE(is_plain(strided_desc({2, 3}, {8, 1})));
}

TEST(layout, strides_of_single_elements_do_not_count) {
  EXPECT_TRUE(same_memory(tagged({1, 64, 1, 1}, Tag::nhwc), tagged({1, 64, 1, 1}, Tag::nchw)));
  EXPECT_FALSE(same_memory(tagged({1, 64, 2, 2}, Tag::nhwc), tagged({1, 64, 2, 2}, Tag::nchw)));
}

TEST(layout, dense_like_keeps_the_nesting) {
  EXPECT_EQ(dense_like(tagged({1, 8, 4, 4}, Tag::nhwc), {1, 3, 4, 4}),
            tagged({1, 3, 4, 4}, Tag::nhwc));
  EXPECT_EQ(dense_like(tagged({2, 8, 4, 4}, Tag::chwn), {2, 3, 5, 4}),
            tagged({2, 3, 5, 4}, Tag::chwn));
}

}  // namespace
}  // namespace millrace::engine::onednn
