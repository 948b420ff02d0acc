#include "support/npz.h"

#include <zlib.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/file.h"
#include "network/npy.h"
#include "support/temporary_folder.h"

namespace millrace::test {
namespace {

std::size_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::size_t result = 0;
  for (std::size_t i = size; i-- > 0;)
    result = result << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return result;
}

std::string inflate_all(std::string_view packed, std::size_t size) {
  std::string result(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(size);
  const bool done = inflateInit2(&stream, -MAX_WBITS) == Z_OK &&
                    inflate(&stream, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&stream);
  if (!done) throw std::runtime_error("a zip file is damaged");
  return result;
}

/// The content of the entry whose record in the zip's directory begins at `at`.
std::string content(std::string_view zip, std::size_t at) {
  const std::size_t method = number(zip, at + 10, 2);
  const std::size_t packed = number(zip, at + 20, 4);
  const std::size_t local = number(zip, at + 42, 4);
  const std::size_t data = local + 30 + number(zip, local + 26, 2) + number(zip, local + 28, 2);
  const std::string_view bytes = zip.substr(data, packed);
  return method == 0 ? std::string(bytes) : inflate_all(bytes, number(zip, at + 24, 4));
}

}  // namespace

std::map<std::string, network::Array> read_npz(const std::filesystem::path& path) {
  const std::string zip = read_file(path);
  const std::size_t end = zip.rfind("PK\5\6");
  if (end == std::string::npos) throw std::runtime_error(path.string() + " is not a zip file");
  const TemporaryFolder folder;
  std::map<std::string, network::Array> result;
  std::size_t at = number(zip, end + 16, 4);
  for (std::size_t left = number(zip, end + 10, 2); left > 0; --left) {
    const std::size_t length = number(zip, at + 28, 2);
    std::string name = zip.substr(at + 46, length);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    write_file(folder / "array.npy", content(zip, at));
    result[name] = network::read_npy(folder / "array.npy");
    at += 46 + length + number(zip, at + 30, 2) + number(zip, at + 32, 2);
  }
  return result;
}

}  // namespace millrace::test
