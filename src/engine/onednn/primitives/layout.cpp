#include "engine/onednn/primitives/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>
#include <utility>

namespace millrace::engine::onednn {
namespace {

constexpr std::string_view prefix = "onednn:";

Dims or_one(const Dims& shape) { return shape.empty() ? Dims{1} : shape; }

constexpr std::array<std::pair<Type, std::string_view>, 5> type_names{{{Type::f32, "f32"},
                                                                       {Type::bf16, "bf16"},
                                                                       {Type::f16, "f16"},
                                                                       {Type::u8, "u8"},
                                                                       {Type::s8, "s8"}}};

std::string_view name_of(Type type) {
  for (const auto& [known, name] : type_names)
    if (known == type) return name;
  return "?";
}

std::optional<Type> read_type(std::string_view text) {
  for (const auto& [type, name] : type_names)
    if (name == text) return type;
  return std::nullopt;
}

/// The step of one dimension between two of its blocks, and how many blocks there are.
std::int64_t block_count(const Blocking& b, std::size_t dimension) {
  std::int64_t count = b.padded[dimension];
  for (std::size_t i = 0; i < b.blocks.size(); ++i)
    if (b.blocked[i] == static_cast<std::int64_t>(dimension)) count /= b.blocks[i];
  return count;
}

/// One loop of the nest that walks through the memory, from outside to inside.
struct Level {
  std::size_t dimension;
  std::int64_t stride, count;
};

std::vector<Level> levels_of(const Blocking& b) {
  std::vector<Level> levels;
  for (std::size_t d = 0; d < b.shape.size(); ++d)
    if (block_count(b, d) > 1) levels.push_back({d, b.strides[d], block_count(b, d)});
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& x, const Level& y) { return x.stride > y.stride; });
  std::int64_t inner = 1;
  for (const std::int64_t block : b.blocks) inner *= block;
  for (std::size_t i = 0; i < b.blocks.size(); ++i) {
    inner /= b.blocks[i];
    levels.push_back({static_cast<std::size_t>(b.blocked[i]), inner, b.blocks[i]});
  }
  return levels;
}

/// "0.5", or "0.5+13" where 13 stands for 0.
std::optional<Encoding> read_encoding(std::string_view text) {
  const char* const last = text.data() + text.size();
  Encoding encoding;
  auto [end, error] = std::from_chars(text.data(), last, encoding.scale);
  if (error != std::errc() || !(encoding.scale > 0)) return std::nullopt;
  if (end == last) return encoding;
  if (*end != '+') return std::nullopt;
  const auto [behind, wrong] = std::from_chars(end + 1, last, encoding.zero);
  const bool fits = encoding.zero != 0 && encoding.zero >= -128 && encoding.zero <= 255;
  return wrong == std::errc() && behind == last && fits ? std::optional(encoding) : std::nullopt;
}

std::string text_of(const Encoding& encoding) {
  if (encoding.zero == 0) return fmt::format("{:.9g}", encoding.scale);
  return fmt::format("{:.9g}+{}", encoding.scale, encoding.zero);
}

std::optional<Dims> numbers(std::string_view text) {
  Dims result;
  while (!text.empty()) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    result.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && text.front() != 'x') return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
  }
  return result;
}

/// The four lists of the text: padded sizes, strides, block sizes, blocked dimensions.
std::optional<std::vector<Dims>> parse(std::string_view text) {
  std::vector<Dims> lists;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto list = numbers(text.substr(0, comma));
    if (!list) return std::nullopt;
    lists.push_back(*list);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (lists.size() != 4) return std::nullopt;
  return lists;
}

bool blocks_fit(const std::vector<Dims>& lists, const Dims& shape) {
  const Dims &padded = lists[0], &blocks = lists[2], &indices = lists[3];
  if (padded.size() != shape.size() || lists[1].size() != shape.size()) return false;
  if (blocks.size() != indices.size() || blocks.size() > DNNL_MAX_NDIMS) return false;
  Dims unit(shape.size(), 1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (indices[i] < 0 || static_cast<std::size_t>(indices[i]) >= shape.size()) return false;
    if (blocks[i] < 1 || blocks[i] > 4096) return false;
    unit[static_cast<std::size_t>(indices[i])] *= blocks[i];
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool size_fits = padded[d] >= shape[d] && padded[d] - shape[d] < unit[d];
    if (!size_fits || padded[d] % unit[d] != 0 || lists[1][d] < 0) return false;
  }
  return true;
}

}  // namespace

Desc row_major_desc(const Dims& shape, Type type) {
  return strided_desc(or_one(shape), network::strides_of(or_one(shape)), type);
}

Desc plain_desc(const Dims& shape) { return row_major_desc(shape, Type::f32); }

Desc any_desc(const Dims& shape, Type type) {
  return Desc(or_one(shape), type, dnnl::memory::format_tag::any);
}

Desc channels_last_desc(const Dims& shape, Type type) {
  if (shape.size() < 3) return row_major_desc(shape, type);
  Dims strides(shape.size());
  std::int64_t stride = shape[1];
  strides[1] = 1;
  for (std::size_t d = shape.size() - 1; d >= 2; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  strides[0] = stride;
  return strided_desc(shape, strides, type);
}

Desc strided_desc(const Dims& shape, const Dims& strides, Type type) {
  return Desc(shape, type, strides);
}

std::optional<Desc> sparse_desc(const Dims& shape, const Dims& strides, Type type) {
  try {
    return Desc(shape, type, strides);
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

Bytes size_of(const Desc& desc) { return Bytes{static_cast<std::int64_t>(desc.get_size())}; }

bool same_memory(const Desc& a, const Desc& b) {
  const auto x = blocking_of(a), y = blocking_of(b);
  return x && y ? same_places(*x, *y) : a == b;
}

bool same_places(const Blocking& a, const Blocking& b) {
  if (a.type != b.type || a.shape != b.shape || a.padded != b.padded) return false;
  if (a.blocks != b.blocks || a.blocked != b.blocked) return false;
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    if (block_count(a, d) > 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

bool is_padded(const Desc& desc) {
  const auto b = blocking_of(desc);
  return b && b->padded != b->shape;
}

bool is_plain(const Desc& desc) { return type_of(desc) == Type::f32 && is_row_major(desc); }

bool is_row_major(const Desc& desc) {
  const auto b = blocking_of(desc);
  if (!b || b->shape != b->padded) return false;
  const auto levels = levels_of(*b);
  std::int64_t expected = 1;
  std::size_t inner_dimension = b->shape.size();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (level->dimension > inner_dimension || level->stride != expected) return false;
    inner_dimension = level->dimension;
    expected *= level->count;
  }
  return true;
}

std::optional<Dims> dense_strides(const Desc& desc) {
  const auto b = blocking_of(desc);
  if (!b || !b->blocks.empty()) return std::nullopt;
  const auto levels = levels_of(*b);
  std::int64_t expected = 1;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (level->stride != expected) return std::nullopt;
    expected *= level->count;
  }
  return b->strides;
}

Desc dense_like(const Desc& model, const Dims& shape) {
  const Type type = type_of(model);
  if (is_row_major(model)) return row_major_desc(shape, type);
  if (same_memory(model, channels_last_desc(dims_of(model), type)))
    return channels_last_desc(shape, type);
  const Dims nesting = dense_strides(model).value();
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return nesting[a] > nesting[b]; });
  Dims strides(shape.size());
  std::int64_t stride = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[*d] = stride;
    stride *= shape[*d];
  }
  return strided_desc(shape, strides, type);
}

std::optional<Desc> reshaped(const Desc& desc, const Dims& shape) {
  if (is_row_major(desc)) return row_major_desc(shape, type_of(desc));
  const auto known = dense_strides(desc);
  if (!known) return std::nullopt;
  const Dims before = dims_of(desc);
  Dims strides(shape.size(), 1);
  std::size_t d = before.size(), s = shape.size();
  // From the end: dimensions that follow each other are one run, which falls into new ones.
  while (d > 0) {
    if (before[--d] == 1) continue;
    std::int64_t run = before[d], stride = (*known)[d];
    for (; d > 0 && (before[d - 1] == 1 || (*known)[d - 1] == stride * run); --d)
      run *= before[d - 1];
    for (std::int64_t left = run; left > 1;) {
      if (s == 0 || shape[--s] == 0 || left % shape[s] != 0) return std::nullopt;
      strides[s] = stride;
      stride *= shape[s];
      left /= shape[s];
    }
  }
  return with_usual_strides(strided_desc(shape, strides, type_of(desc)));
}

std::optional<Desc> blocks_like(const Desc& model, const Dims& shape) {
  using Tag = dnnl::memory::format_tag;
  const Type type = type_of(model);
  const Dims given = dims_of(model);
  if (given.size() != 4 || shape.size() != 4) return std::nullopt;
  for (const auto& [tag, block] : {std::pair{Tag::aBcd16b, 16}, {Tag::aBcd8b, 8}, {Tag::aBcd4b, 4}})
    if (shape[1] % block == 0 && same_memory(model, Desc(given, type, tag)))
      return Desc(shape, type, tag);
  return std::nullopt;
}

Pieces pieces_of(const Desc& layout, std::size_t axis) {
  const Dims shape = dims_of(layout), strides = *dense_strides(layout);
  Pieces pieces{1, dnnl::memory::data_type_size(type_of(layout))};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool outside = d != axis && shape[d] > 1 && strides[d] >= strides[axis] * shape[axis];
    (outside ? pieces.count : pieces.bytes) *= static_cast<std::size_t>(shape[d]);
  }
  return pieces;
}

Desc first_channels(const Desc& whole, const Dims& shape) {
  return strided_desc(shape, blocking_of(whole)->strides, type_of(whole));
}

bool is_slice(const Desc& desc) {
  const auto b = blocking_of(desc);
  return b && b->blocks.empty() && !dense_strides(desc);
}

std::size_t pixel_stride(const Desc& desc) {
  return static_cast<std::size_t>(blocking_of(desc)->strides.back());
}

std::string format_of(const Form& form) {
  const Desc& desc = form.desc;
  if (is_plain(desc)) return "plain";
  const auto b = blocking_of(desc);
  if (!b) return fmt::format("{}of its own kind", prefix);
  return fmt::format("{}{}:{}:{},{},{},{}", prefix, name_of(b->type), text_of(form.encoding),
                     fmt::join(b->padded, "x"), fmt::join(b->strides, "x"),
                     fmt::join(b->blocks, "x"), fmt::join(b->blocked, "x"));
}

std::optional<Form> read_format(const std::string& format, const Dims& shape) {
  if (format == "plain") return Form{plain_desc(shape)};
  if (!format.starts_with(prefix)) return std::nullopt;
  const std::string_view text = std::string_view(format).substr(prefix.size());
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const auto type = read_type(text.substr(0, first));
  const auto encoding = read_encoding(text.substr(first + 1, second - first - 1));
  const auto lists = parse(text.substr(second + 1));
  if (!type || !encoding || !lists || !blocks_fit(*lists, or_one(shape))) return std::nullopt;
  const auto desc =
      desc_of({*type, or_one(shape), (*lists)[0], (*lists)[1], (*lists)[2], (*lists)[3]});
  return desc ? std::optional(Form{*desc, *encoding}) : std::nullopt;
}

Desc with_usual_strides(const Desc& desc) {
  const Dims shape = dims_of(desc);
  const Type type = type_of(desc);
  if (is_row_major(desc)) return row_major_desc(shape, type);
  const Desc channels_last = channels_last_desc(shape, type);
  return same_memory(desc, channels_last) ? channels_last : desc;
}

bool suits_two_operands(const Desc& desc) {
  const auto b = blocking_of(desc);
  if (!b || b->padded != b->shape) return false;
  return !b->blocks.empty() || is_row_major(desc) ||
         same_memory(desc, channels_last_desc(b->shape, b->type));
}

std::vector<Desc> usual_layouts(const Desc& now) {
  const Dims shape = dims_of(now);
  std::vector<Desc> layouts;
  const auto add = [&](Type type) {
    layouts.push_back(retyped(now, type));
    layouts.push_back(channels_last_desc(shape, type));
    layouts.push_back(row_major_desc(shape, type));
  };
  if (type_of(now) == Type::bf16 || type_of(now) == Type::f16) add(type_of(now));
  add(Type::f32);
  return layouts;
}

}  // namespace millrace::engine::onednn
