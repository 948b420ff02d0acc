#include "formats/onnx/tensor_data.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstring>

#include "base/error.h"
#include "formats/onnx/types.h"
#include "formats/size_limit.h"

namespace millrace::formats::onnx {
namespace {

/// What one tensor must become, and where it is.
struct Destination {
  DataType type;
  std::int64_t count;
  std::string place;

  Bytes size() const { return size_of(type) * count; }
};

void check_count(const Destination& target, std::int64_t found) {
  if (found != target.count)
    throw InputError(target.place, fmt::format("has {} values, but its shape asks for {}; the "
                                               "file is damaged",
                                               found, target.count));
}

template <class T, class Values>
Buffer convert(const Destination& target, const Values& values) {
  check_count(target, values.size());
  Buffer buffer = Buffer::uninitialized(target.size());
  T* out = reinterpret_cast<T*>(buffer.data());
  for (int i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
  return buffer;
}

Buffer typed_data(const ::onnx::TensorProto& proto, const Destination& target) {
  switch (target.type) {
    case DataType::float32:
      return convert<float>(target, proto.float_data());
    case DataType::float64:
      return convert<double>(target, proto.double_data());
    case DataType::int64:
      return convert<std::int64_t>(target, proto.int64_data());
    case DataType::uint64:
      return convert<std::uint64_t>(target, proto.uint64_data());
    case DataType::uint32:
      return convert<std::uint32_t>(target, proto.uint64_data());
    case DataType::int32:
      return convert<std::int32_t>(target, proto.int32_data());
    case DataType::int16:
      return convert<std::int16_t>(target, proto.int32_data());
    case DataType::float16:
    case DataType::uint16:
      return convert<std::uint16_t>(target, proto.int32_data());
    case DataType::int8:
      return convert<std::int8_t>(target, proto.int32_data());
    case DataType::uint8:
      return convert<std::uint8_t>(target, proto.int32_data());
    case DataType::boolean:
      break;
  }
  check_count(target, proto.int32_data_size());
  Buffer buffer(target.size());
  for (int i = 0; i < proto.int32_data_size(); ++i)
    buffer.data()[i] = std::byte{proto.int32_data(i) != 0};
  return buffer;
}

Buffer raw_data(const std::string& raw, const Destination& target) {
  if (static_cast<std::int64_t>(raw.size()) != target.size().count)
    throw InputError(target.place, fmt::format("has {} bytes of data, but its type and shape ask "
                                               "for {}; the file is damaged",
                                               raw.size(), target.size().count));
  Buffer buffer = Buffer::uninitialized(target.size());
  if (!raw.empty()) std::memcpy(buffer.data(), raw.data(), raw.size());
  if (target.type == DataType::boolean)
    for (std::byte& value : buffer.bytes()) value = std::byte{value != std::byte{0}};
  return buffer;
}

std::int64_t external_number(const ::onnx::StringStringEntryProto& entry,
                             const std::string& place) {
  std::int64_t number = -1;
  const std::string& text = entry.value();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw InputError(place, fmt::format("the {} of its external data is '{}', expected a number "
                                        "that is not negative",
                                        entry.key(), text));
  return number;
}

ExternalPiece external_piece(const ::onnx::TensorProto& proto, const Destination& target) {
  ExternalPiece piece{.location = external_location(proto), .length = target.size().count};
  for (const ::onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "offset") piece.offset = external_number(entry, target.place);
    if (entry.key() != "length") continue;
    const std::int64_t length = external_number(entry, target.place);
    if (length != piece.length)
      throw InputError(target.place, fmt::format("its external data has {} bytes, but its type "
                                                 "and shape ask for {}",
                                                 length, piece.length));
  }
  return piece;
}

/// What a file's pieces stand for. Integers of 4 bits: the first in the lower half of a byte.
Array unpacked(const StoredType& stored, Shape shape, std::span<const std::byte> pieces,
               std::int64_t count) {
  Buffer buffer = Buffer::uninitialized(size_of(stored.type) * count);
  if (stored.in_piece == 1) {
    const auto* const halves = reinterpret_cast<const std::uint16_t*>(pieces.data());
    auto* const to = reinterpret_cast<std::uint32_t*>(buffer.data());
    for (std::int64_t i = 0; i < count; ++i) to[i] = std::uint32_t{halves[i]} << 16;
  } else {
    const int sign = stored.type == DataType::int8 ? 8 : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto two = std::to_integer<int>(pieces[static_cast<std::size_t>(i / 2)]);
      const int number = i % 2 == 0 ? two & 15 : two >> 4;
      buffer.data()[i] = static_cast<std::byte>((number ^ sign) - sign);
    }
  }
  return make_array(stored.type, std::move(shape), std::move(buffer));
}

/// Pieces of a tensor of `count` numbers.
Destination pieces_of(const StoredType& stored, std::int64_t count, const std::string& place) {
  return {stored.in_file, count / stored.in_piece + (count % stored.in_piece == 0 ? 0 : 1), place};
}

}  // namespace

void check_shape(DataType type, const Shape& shape, const std::string& place) {
  if (shape.size() > most_dimensions)
    throw InputError(place, fmt::format("has {} dimensions; at most {} are supported", shape.size(),
                                        most_dimensions));
  Shape without_zeros = shape;
  for (std::int64_t& size : without_zeros)
    if (size == 0) size = 1;
  check_size(type, without_zeros, place);
}

Array read_tensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder,
                  const std::string& place) {
  ExternalFiles files(folder);
  return read_tensor(proto, files, place);
}

void count_external_data(const ::onnx::TensorProto& proto, ExternalFiles& files,
                         const std::string& place) {
  const std::optional<StoredType> stored = stored_type(proto.data_type());
  if (proto.data_location() != ::onnx::TensorProto::EXTERNAL || !stored) return;
  const Shape shape(proto.dims().begin(), proto.dims().end());
  check_shape(stored->type, shape, place);
  files.count(external_piece(proto, pieces_of(*stored, element_count(shape, place), place)), place);
}

void take_in_external_data(::onnx::TensorProto& proto, ExternalFiles& files,
                           const std::string& place) {
  const std::optional<StoredType> stored = stored_type(proto.data_type());
  if (proto.data_location() != ::onnx::TensorProto::EXTERNAL || !stored) return;
  const Shape shape(proto.dims().begin(), proto.dims().end());
  check_shape(stored->type, shape, place);
  const Destination target = pieces_of(*stored, element_count(shape, place), place);
  const Array bytes = files.read(external_piece(proto, target), place);
  proto.set_raw_data(bytes.bytes().data(), bytes.bytes().size());
  proto.clear_external_data();
  proto.clear_data_location();
}

void take_in_external_data(::onnx::TensorProto& proto,
                           const std::map<std::string, std::string_view>& files,
                           const std::string& place) {
  const std::optional<StoredType> stored = stored_type(proto.data_type());
  if (proto.data_location() != ::onnx::TensorProto::EXTERNAL || !stored) return;
  const Shape shape(proto.dims().begin(), proto.dims().end());
  check_shape(stored->type, shape, place);
  const Destination target = pieces_of(*stored, element_count(shape, place), place);
  const ExternalPiece piece = external_piece(proto, target);
  const auto found = files.find(piece.location);
  if (found == files.end())
    throw InputError(place, fmt::format("its external data is in '{}', of which no bytes are "
                                        "given; give them by this name",
                                        piece.location));
  const auto size = static_cast<std::int64_t>(found->second.size());
  if (piece.offset > size || piece.length > size - piece.offset)
    throw InputError(place, fmt::format("its external data are {} bytes of '{}' from {} on, but {} "
                                        "are given; give those that belong to the model",
                                        piece.length, piece.location, piece.offset, size));
  proto.set_raw_data(found->second.data() + piece.offset, static_cast<std::size_t>(piece.length));
  proto.clear_external_data();
  proto.clear_data_location();
}

Array read_tensor(const ::onnx::TensorProto& proto, ExternalFiles& files,
                  const std::string& place) {
  const std::optional<StoredType> stored = stored_type(proto.data_type());
  if (!stored)
    throw InputError(
        place, fmt::format("has the type {}; {}", type_name(proto.data_type()), supported_types()));
  if (proto.has_segment())
    throw InputError(place,
                     "is stored in segments, which is not supported; save the model again "
                     "with whole tensors");
  Shape shape(proto.dims().begin(), proto.dims().end());
  check_shape(stored->type, shape, place);
  const std::int64_t count = element_count(shape, place);
  const Destination target = pieces_of(*stored, count, place);
  const bool is_packed = stored->in_piece > 1 || stored->in_file != stored->type;
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL) {
    const ExternalPiece piece = external_piece(proto, target);
    const auto unpack = [&](const Array& bytes) {
      return unpacked(*stored, {count}, bytes.bytes(), count);
    };
    const Array found = is_packed ? files.read({piece, proto.data_type(), count}, place, unpack)
                                  : files.read(piece, place);
    return {stored->type, std::move(shape), found.memory, found.known};
  }
  Buffer buffer =
      proto.has_raw_data() ? raw_data(proto.raw_data(), target) : typed_data(proto, target);
  if (is_packed) return unpacked(*stored, std::move(shape), buffer.bytes(), count);
  return make_array(stored->type, std::move(shape), std::move(buffer));
}

}  // namespace millrace::formats::onnx
