#include "arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "millrace/error.h"

namespace millrace::python {
namespace {

struct TypeRow {
  DataType type;
  const char* name;
  nb::dlpack::dtype_code code;
  std::uint8_t bits;
};
using Code = nb::dlpack::dtype_code;
constexpr std::array<TypeRow, 12> types{{{DataType::float32, "float32", Code::Float, 32},
                                         {DataType::float64, "float64", Code::Float, 64},
                                         {DataType::float16, "float16", Code::Float, 16},
                                         {DataType::int8, "int8", Code::Int, 8},
                                         {DataType::uint8, "uint8", Code::UInt, 8},
                                         {DataType::int16, "int16", Code::Int, 16},
                                         {DataType::uint16, "uint16", Code::UInt, 16},
                                         {DataType::int32, "int32", Code::Int, 32},
                                         {DataType::uint32, "uint32", Code::UInt, 32},
                                         {DataType::int64, "int64", Code::Int, 64},
                                         {DataType::uint64, "uint64", Code::UInt, 64},
                                         {DataType::boolean, "bool", Code::Bool, 8}}};

const TypeRow& row_of(DataType type) { return types[static_cast<std::size_t>(type)]; }

const TypeRow* row_of(Code code, std::size_t bits) {
  for (const TypeRow& row : types)
    if (row.code == code && row.bits == bits) return &row;
  return nullptr;
}

/// Of a letter of the module struct.
const TypeRow* row_of(const Py_buffer& view) {
  const char* letter = view.format == nullptr ? "B" : view.format;
  if (*letter == '@' || *letter == '=' || *letter == '<') ++letter;
  if (letter[0] == '\0' || letter[1] != '\0') return nullptr;
  const std::size_t bits = 8 * static_cast<std::size_t>(view.itemsize);
  if (*letter == '?') return row_of(Code::Bool, bits);
  if (std::strchr("efd", *letter) != nullptr) return row_of(Code::Float, bits);
  if (std::strchr("bhilqn", *letter) != nullptr) return row_of(Code::Int, bits);
  if (std::strchr("BHILQN", *letter) != nullptr) return row_of(Code::UInt, bits);
  return nullptr;
}

/// A view of a Python object, which lives as long as it.
struct Held {
  Py_buffer view{};
  Held* next = nullptr;  // of those that nobody needs any more
};

/// Threads of sessions let go of arrays, but must not wait for the GIL: whoever has it next
/// releases, at the next frame or when the interpreter looks.
std::atomic<Held*> dropped{nullptr};
std::atomic<int> taking_frames{0};

int release_dropped(void*) {
  Held* held = dropped.exchange(nullptr, std::memory_order_acquire);
  while (held != nullptr) {
    PyBuffer_Release(&held->view);
    delete std::exchange(held, held->next);
  }
  return 0;
}

void drop(Held* held) {
  Held* before = dropped.load(std::memory_order_relaxed);
  do {
    held->next = before;
  } while (!dropped.compare_exchange_weak(before, held, std::memory_order_release,
                                          std::memory_order_relaxed));
  if (before == nullptr && taking_frames == 0 && Py_IsInitialized() != 0)
    Py_AddPendingCall(release_dropped, nullptr);
}

struct Release {
  void operator()(Held* held) const {
    if (held->view.obj != nullptr) PyBuffer_Release(&held->view);
    delete held;
  }
};
using HeldPointer = std::unique_ptr<Held, Release>;

[[noreturn]] void refuse(const std::string& place, const std::string& finding,
                         const std::string& remedy) {
  throw Error(ErrorKind::input, place + ": " + finding + (remedy.empty() ? "" : "; " + remedy),
              {place, finding, remedy});
}

/// A view of the array in any layout; nothing if it has no buffer.
HeldPointer view_of(nb::handle array) {
  HeldPointer held(new Held);
  if (PyObject_GetBuffer(array.ptr(), &held->view, PyBUF_FORMAT | PyBUF_STRIDES) == 0) return held;
  held->view.obj = nullptr;
  PyErr_Clear();
  return nullptr;
}

Tensor shared(HeldPointer held, const TypeRow& row) {
  Shape shape(held->view.shape, held->view.shape + held->view.ndim);
  const auto size = static_cast<std::size_t>(held->view.len);
  Held* const kept = held.release();
  return Tensor::view_of(row.type, std::move(shape),
                         std::shared_ptr<const void>(kept->view.buf, [kept](auto) { drop(kept); }),
                         size);
}

Tensor copied(const Held& held, const TypeRow& row) {
  std::vector<char> bytes(static_cast<std::size_t>(held.view.len));
  if (PyBuffer_ToContiguous(bytes.data(), const_cast<Py_buffer*>(&held.view), held.view.len, 'C') !=
      0)
    throw nb::python_error();
  return Tensor::copy_of(row.type, Shape(held.view.shape, held.view.shape + held.view.ndim),
                         bytes.data(), bytes.size());
}

bool is_aligned(const Held& held) {
  return reinterpret_cast<std::uintptr_t>(held.view.buf) %
             static_cast<std::size_t>(held.view.itemsize) ==
         0;
}

/// What has DLPack alone, through a numpy array.
Tensor of_dlpack(nb::handle array, const std::string& place) {
  static const char* const remedy = "give a numpy array";
  if (!nb::hasattr(array, "__dlpack__"))
    refuse(place,
           std::string("found a ") + nb::type_name(array.type()).c_str() + ", expected an array",
           remedy);
  const nb::object numpy = nb::module_::import_("numpy").attr("from_dlpack")(array);
  HeldPointer held = view_of(numpy);
  const TypeRow* row = held ? row_of(held->view) : nullptr;
  if (row == nullptr) refuse(place, "found a type of numbers that is none of a model", remedy);
  return shared(std::move(held), *row);
}

}  // namespace

const char* name_of(DataType type) { return row_of(type).name; }

std::string text_of(DataType type, const Shape& shape) {
  std::string text = shape.empty() ? "scalar" : "";
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return std::string(name_of(type)) + " " + text;
}

namespace {

Tensor any_tensor(nb::handle array, const std::string& place) {
  HeldPointer held = view_of(array);
  if (!held) return of_dlpack(array, place);
  const TypeRow* const row = row_of(held->view);
  if (row == nullptr)
    refuse(place,
           std::string("found numbers of the format '") +
               (held->view.format == nullptr ? "" : held->view.format) + "', which no model has",
           "convert them with astype()");
  if (PyBuffer_IsContiguous(&held->view, 'C') == 0 || !is_aligned(*held))
    return copied(*held, *row);
  return shared(std::move(held), *row);
}

}  // namespace

Tensor tensor_of(nb::handle array) { return any_tensor(array, "array"); }

Tensor tensor_of(nb::handle array, const TensorInfo& expected, const char* kind) {
  const auto place = [&] { return std::string(kind) + " '" + expected.name + "'"; };
  HeldPointer held = view_of(array);
  const TypeRow* const row = held ? row_of(held->view) : nullptr;
  const bool simple =
      row != nullptr && is_aligned(*held) && PyBuffer_IsContiguous(&held->view, 'C') != 0;
  Tensor tensor = simple ? shared(std::move(held), *row) : any_tensor(array, place());
  if (tensor.type() == expected.type && tensor.shape() == expected.shape) return tensor;
  refuse(place(),
         "found " + text_of(tensor.type(), tensor.shape()) + ", expected " +
             text_of(expected.type, expected.shape),
         tensor.type() == expected.type
             ? std::string()
             : std::string("convert it with astype('") + name_of(expected.type) + "')");
}

nb::object array_of(Tensor tensor) {
  const TypeRow& row = row_of(tensor.type());
  const bool is_shared = tensor.is_shared();
  auto* const kept = new Tensor(std::move(tensor));
  const nb::capsule owner(kept,
                          [](void* pointer) noexcept { delete static_cast<Tensor*>(pointer); });
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(row.code), row.bits, 1};
  std::array<std::size_t, 16> shape{};
  const std::size_t rank = kept->shape().size();
  if (rank > shape.size()) refuse("output", "has more than 16 dimensions", "");
  for (std::size_t d = 0; d < rank; ++d) shape[d] = static_cast<std::size_t>(kept->shape()[d]);
  void* const data = const_cast<void*>(kept->data());
  if (is_shared)
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, rank, shape.data(), owner, nullptr, type));
  return nb::cast(nb::ndarray<nb::numpy>(data, rank, shape.data(), owner, nullptr, type));
}

namespace {

Frame of_dict(nb::handle given, const std::vector<TensorInfo>& inputs) {
  Frame frame;
  for (const TensorInfo& input : inputs) {
    PyObject* const array = PyDict_GetItemString(given.ptr(), input.name.c_str());
    if (array == nullptr)
      refuse("input '" + input.name + "'",
             "is missing, expected " + text_of(input.type, input.shape), "");
    frame.push_back(tensor_of(array, input));
  }
  if (static_cast<std::size_t>(PyDict_Size(given.ptr())) == inputs.size()) return frame;
  for (const nb::handle name : nb::list(given.attr("keys")())) {
    const std::string text = nb::cast<std::string>(nb::str(name));
    bool known = false;
    for (const TensorInfo& input : inputs) known = known || input.name == text;
    if (!known) refuse("input '" + text + "'", "is none of the model", "Model.inputs tells them");
  }
  return frame;
}

}  // namespace

Frame frame_of(nb::handle given, const std::vector<TensorInfo>& inputs) {
  if (dropped.load(std::memory_order_relaxed) != nullptr) release_dropped(nullptr);
  if (PyDict_Check(given.ptr())) return of_dict(given, inputs);
  const bool is_list = PyList_Check(given.ptr()) != 0 || PyTuple_Check(given.ptr()) != 0;
  if (!is_list && inputs.size() == 1) return {tensor_of(given, inputs[0])};
  const std::size_t count = is_list ? nb::len(given) : 1;
  if (!is_list || count != inputs.size())
    refuse("frame",
           "has " + std::to_string(count) + " arrays, expected " + std::to_string(inputs.size()) +
               ", one for each input",
           "Model.inputs tells them");
  Frame frame;
  for (std::size_t i = 0; i < count; ++i)
    frame.push_back(tensor_of(nb::handle(given)[i], inputs[i]));
  return frame;
}

TakesFrames::TakesFrames() { ++taking_frames; }
TakesFrames::~TakesFrames() {
  --taking_frames;
  release_dropped(nullptr);
}

void fill(nb::handle dict, Frame frame, const std::vector<nb::object>& names) {
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const nb::object array = array_of(std::move(frame[i]));
    if (PyDict_SetItem(dict.ptr(), names[i].ptr(), array.ptr()) != 0) throw nb::python_error();
  }
}

nb::dict dict_of(Frame frame, const std::vector<nb::object>& names) {
  nb::dict result;
  fill(result, std::move(frame), names);
  return result;
}

}  // namespace millrace::python
