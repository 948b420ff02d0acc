#include "formats/onnx/external_data.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "formats/files/named_file.h"

namespace millrace::formats::onnx {
namespace {

namespace fs = std::filesystem;

/// The file's real path, links resolved.
fs::path locate(const std::string& location, const fs::path& folder, const std::string& place) {
  if (folder.empty())
    throw InputError(place, fmt::format("its external data is in the file '{}', but the model is "
                                        "in memory and has no folder; put its weights inside",
                                        location));
  const NamedFile found = named_file(folder, location);
  switch (found.finding) {
    case NamedFile::Finding::inside:
      break;
    case NamedFile::Finding::leaves:
      throw InputError(place, fmt::format("its external data is at '{}', which is not inside the "
                                          "model's folder; put the file beside the model and name "
                                          "it without '..' or a leading '/'",
                                          location));
    case NamedFile::Finding::missing:
      throw InputError(place, fmt::format("its external data file '{}' is not in the model's "
                                          "folder '{}'; copy it there",
                                          location, folder.string()));
    case NamedFile::Finding::link_leaves:
      throw InputError(place, fmt::format("its external data '{}' is a link to a file outside the "
                                          "model's folder; copy the file itself into the folder",
                                          location));
  }
  return found.path;
}

void visit_tensors(google::protobuf::Message& message, const TensorVisitor& visit) {
  if (auto* tensor = dynamic_cast<::onnx::TensorProto*>(&message)) return visit(*tensor);
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      visit_tensors(*reflection.MutableMessage(&message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      visit_tensors(*reflection.MutableRepeatedMessage(&message, field, i), visit);
  }
}

std::uintmax_t checked_size(const ExternalPiece& piece, const fs::path& file,
                            const std::string& place) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  const auto end =
      static_cast<std::uintmax_t>(piece.offset) + static_cast<std::uintmax_t>(piece.length);
  if (error || piece.offset < 0 || end > size)
    throw InputError(place, fmt::format("its external data are bytes {} to {} of '{}', but that "
                                        "file has {} bytes; the file is damaged or of another "
                                        "model",
                                        piece.offset, end, piece.location, error ? 0 : size));
  return size;
}

std::uintmax_t memory_of_the_machine() {
  return static_cast<std::uintmax_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uintmax_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string external_location(const ::onnx::TensorProto& tensor) {
  std::string location;
  for (const ::onnx::StringStringEntryProto& entry : tensor.external_data())
    if (entry.key() == "location") location = entry.value();
  return location;
}

void for_each_tensor(::onnx::ModelProto& model, const TensorVisitor& visit) {
  visit_tensors(model, visit);
}

std::vector<fs::path> external_files_of(::onnx::ModelProto& model, const fs::path& folder) {
  std::vector<fs::path> names;
  std::set<std::string> known;
  for_each_tensor(model, [&](::onnx::TensorProto& tensor) {
    if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL) return;
    const std::string location = external_location(tensor);
    if (!known.insert(location).second) return;
    const fs::path name = fs::path(location).lexically_normal();
    if (named_file(folder, location).finding == NamedFile::Finding::inside &&
        std::ranges::find(names, name) == names.end())
      names.push_back(name);
  });
  return names;
}

void ExternalFiles::count(const ExternalPiece& piece, const std::string& place) {
  if (!counted_.emplace(piece.location, piece.offset, piece.length).second) return;
  bytes_ += static_cast<std::uintmax_t>(piece.length);
  const std::uintmax_t most = memory_of_the_machine();
  if (bytes_ > most)
    throw InputError(place, fmt::format("the external data up to here are {:.1f} GiB, but this "
                                        "machine has {:.1f} GiB of memory; use a smaller model or "
                                        "a larger machine",
                                        static_cast<double>(bytes_) / 0x1p30,
                                        static_cast<double>(most) / 0x1p30));
}

Array ExternalFiles::read(const ExternalPiece& piece, const std::string& place) {
  count(piece, place);
  const fs::path file = locate(piece.location, folder_, place);
  const Key key{file, piece.offset, piece.length};
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  const std::uintmax_t size = checked_size(piece, file, place);
  std::uintmax_t& total = read_[file];
  if (seen_.insert(key).second) total += static_cast<std::uintmax_t>(piece.length);
  if (total > size)
    throw InputError(place, fmt::format("the weights up to here name more bytes of '{}' than the "
                                        "{} that it has; save the model and its weights again",
                                        piece.location, size));
  if (std::optional<Array> there = mapped(piece, file)) return pieces_[key] = *std::move(there);
  Buffer buffer = Buffer::uninitialized(Bytes{piece.length});
  std::ifstream in = open_regular_file(file);
  in.seekg(static_cast<std::streamoff>(piece.offset));
  in.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(piece.length));
  if (!in)
    throw InputError(place, fmt::format("its external data file '{}' cannot be read",
                                        piece.location));
  return pieces_[key] = make_array(DataType::uint8, {piece.length}, std::move(buffer));
}

std::optional<Array> ExternalFiles::mapped(const ExternalPiece& piece, const fs::path& file) {
  constexpr std::int64_t least = 1 << 20;  // smaller ones are not worth pages of their own
  if (piece.length < least || piece.offset % std::int64_t{network::tensor_alignment} != 0)
    return std::nullopt;
  auto [at, is_new] = mapped_.try_emplace(file);
  if (is_new) at->second = MappedFile::open(file);
  if (!at->second) return std::nullopt;
  const auto bytes = at->second->bytes();
  if (piece.offset + piece.length > static_cast<std::int64_t>(bytes.size())) return std::nullopt;
  return network::array_over(DataType::uint8, {piece.length}, bytes.data() + piece.offset,
                             at->second);
}

void ExternalFiles::forget() {
  pieces_.clear();
  mapped_.clear();
}

Array ExternalFiles::read(const Packed& packed, const std::string& place, const Unpack& unpack) {
  const ExternalPiece& piece = packed.piece;
  const fs::path file = locate(piece.location, folder_, place);
  const Key raw{file, piece.offset, piece.length};
  const Key key{file, piece.offset, piece.length, packed.code, packed.count};
  if (const auto known = pieces_.find(key); known != pieces_.end()) return known->second;
  const bool is_shared = pieces_.contains(raw);
  Array made = unpack(read(piece, place));
  if (!is_shared) pieces_.erase(raw);
  return pieces_[key] = std::move(made);
}

}  // namespace millrace::formats::onnx
