#include "network/npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace::network {
namespace {

class Npy : public testing::Test {
 protected:
  /// A version 1 file.
  static std::string file_of(const std::string& header, const std::string& values) {
    std::string file("\x93NUMPY\x01\x00", 8);
    file.push_back(static_cast<char>(header.size()));
    file.push_back('\0');
    return file + header + values;
  }

  /// Writes a file with this header and these values; gives the error's text.
  std::string error_for(const std::string& header, const std::string& values) {
    return error_for_file(file_of(header, values));
  }

  std::string error_for_file(const std::string& file) {
    write_file(folder / "a.npy", file);
    try {
      read_npy(folder / "a.npy");
    } catch (const InputError& error) {
      EXPECT_EQ(error.place(), (folder / "a.npy").string());
      return error.what();
    }
    return "no error";
  }

  test::TemporaryFolder folder;
};

TEST_F(Npy, every_type_and_rank_comes_back_as_it_was_written) {
  for (int type = 0; type <= static_cast<int>(DataType::boolean); ++type)
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 1, 3}, Shape{0, 4}}) {
      const auto data_type = static_cast<DataType>(type);
      Buffer memory(size_of(data_type) * element_count(shape));
      for (std::size_t i = 0; i < memory.bytes().size(); ++i)
        memory.data()[i] = static_cast<std::byte>(i * 37);
      const Array written = make_array(data_type, shape, std::move(memory));
      write_npy(folder / "a.npy", written);
      const Array read = read_npy(folder / "a.npy");
      EXPECT_EQ(read.type, written.type);
      EXPECT_EQ(read.shape, written.shape);
      EXPECT_TRUE(std::ranges::equal(read.bytes(), written.bytes()));
    }
}

TEST_F(Npy, the_held_out_digits_are_read_as_numpy_saved_them) {
  const Array images =
      read_npy(std::filesystem::path(MILLRACE_SOURCE_DIR) / "models/digits_test_images.npy");
  EXPECT_EQ(images.type, DataType::float32);
  EXPECT_EQ(images.shape, (Shape{360, 1, 8, 8}));
  const auto values = images.values<float>();
  EXPECT_EQ(std::ranges::min(values), 0.0f);
  EXPECT_EQ(std::ranges::max(values), 1.0f);
}

TEST_F(Npy, what_is_written_begins_its_values_at_a_multiple_of_64_bytes) {
  const float values[] = {1, 2};
  write_npy(folder / "a.npy", make_array<float>(DataType::float32, {2}, values));
  const std::string file = read_file(folder / "a.npy");
  EXPECT_EQ(file.size(), 128u + 8u);
  EXPECT_NE(file.find("'shape': (2,)"), file.npos);
}

TEST_F(Npy, the_order_of_the_headers_keys_does_not_matter) {
  EXPECT_EQ(error_for("{'shape':(2,), 'descr':\"|u1\",'fortran_order':False}", "ab"), "no error");
}

TEST_F(Npy, a_file_of_another_kind_is_refused) {
  EXPECT_NE(error_for_file("P5 8 8 255").find("is not a NumPy file"), std::string::npos);
  EXPECT_NE(error_for_file("").find("is not a NumPy file"), std::string::npos);
  EXPECT_NE(error_for_file({"\x93NUMPY\x04\x00\x00\x00", 10}).find("version 4"), std::string::npos);
}

TEST_F(Npy, every_truncation_is_refused) {
  const std::int64_t values[] = {1, 2, 3};
  write_npy(folder / "b.npy", make_array<std::int64_t>(DataType::int64, {3}, values));
  const std::string whole = read_file(folder / "b.npy");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(error_for_file(whole.substr(0, size)), "no error") << size;
}

TEST_F(Npy, a_huge_file_is_refused_before_it_is_read) {
  error_for("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcd");
  std::filesystem::resize_file(folder / "a.npy", std::uintmax_t{17} << 30);
  try {
    read_npy(folder / "a.npy");
    FAIL() << "was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("where float32 1 needs 4"), std::string::npos)
        << error.what();
  }
}

/// What numpy.save writes of a transposed array.
TEST_F(Npy, columns_may_lie_one_behind_the_other) {
  write_file(folder / "a.npy",
             file_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "adbecf"));
  const Array array = read_npy(folder / "a.npy");
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  const auto values = array.values<std::uint8_t>();
  EXPECT_EQ(std::string(values.begin(), values.end()), "abcdef");
}

TEST_F(Npy, types_orders_and_sizes_that_do_not_fit_are_named) {
  const std::string order = "'fortran_order': False, ";
  const auto says = [&](const std::string& header, const std::string& words) {
    const std::string error = error_for(header, "abcd");
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  says("{'descr': '>f4', " + order + "'shape': (1,)}", "'>f4'");
  says("{'descr': [('a', '<f4')], " + order + "'shape': (1,)}", "no type");
  says("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "neither True nor False");
  says("{'descr': '<f4', " + order + "'shape': (2,)}", "4 bytes of values");
  says("{'descr': '|u1', " + order + "'shape': (3,)}", "needs 3");
  says("{'descr': '<f4', " + order + "'shape': (-1,)}", "not a tuple");
  says("{'descr': '<f4', " + order + "'shape': (99999999999999999999,)}", "not a tuple");
  says("{'descr': '<f4', " + order + "'shape': (4294967296, 4294967296)}", "2^40");
  says("{'descr': '<f4', " + order + "'shape': (1", "not a tuple");
  says("{'descr': '<f4', " + order + "}", "no field 'shape'");
}

}  // namespace
}  // namespace millrace::network
