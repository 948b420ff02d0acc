// Changes to ONNX models that leave them readable: a number, a name or a node becomes another one
// of the same model. libFuzzer's own changes, of bytes, mostly break a message before it says much.
#include <google/protobuf/message.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzz.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed);

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using millrace::Random;

std::size_t below(std::size_t bound, Random& random) { return random.below(bound); }

/// A field that is set, or an element of one that is repeated (index -1: it is not).
struct Place {
  Message* message = nullptr;
  const FieldDescriptor* field = nullptr;
  int index = -1;
};

void collect(Message& message, std::vector<Place>& places) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      places.push_back({&message, field, field->is_repeated() ? i : -1});
      if (!is_message) continue;
      collect(field->is_repeated() ? *reflection->MutableRepeatedMessage(&message, field, i)
                                   : *reflection->MutableMessage(&message, field),
              places);
    }
  }
}

std::int64_t telling_number(Random& random) {
  static constexpr std::array<std::int64_t, 20> numbers{
      0,  1,  -1,   2,     3,       4,          -2,         7,           16,         255,
      -3, 64, 1000, 65536, 1 << 24, 0x7fffffff, 0x80000000, -0x80000000, INT64_MAX, INT64_MIN};
  return numbers[below(numbers.size(), random)];
}

void set_number(const Place& place, std::int64_t number) {
  const auto* reflection = place.message->GetReflection();
  const auto* field = place.field;
  const auto set = [&](auto value, auto single, auto repeated) {
    if (place.index < 0)
      (reflection->*single)(place.message, field, value);
    else
      (reflection->*repeated)(place.message, field, place.index, value);
  };
  using Reflection = google::protobuf::Reflection;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return set(number, &Reflection::SetInt64, &Reflection::SetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_INT32:
      return set(static_cast<std::int32_t>(number), &Reflection::SetInt32,
                 &Reflection::SetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return set(static_cast<float>(number) / 2, &Reflection::SetFloat,
                 &Reflection::SetRepeatedFloat);
    case FieldDescriptor::CPPTYPE_ENUM:
      return set(static_cast<int>(number & 31), &Reflection::SetEnumValue,
                 &Reflection::SetRepeatedEnumValue);
    default: return;
  }
}

std::string text_at(const Place& place) {
  const auto* reflection = place.message->GetReflection();
  return place.index < 0
             ? reflection->GetString(*place.message, place.field)
             : reflection->GetRepeatedString(*place.message, place.field, place.index);
}

void set_text(const Place& place, const std::string& text) {
  const auto* reflection = place.message->GetReflection();
  if (place.index < 0)
    reflection->SetString(place.message, place.field, text);
  else
    reflection->SetRepeatedString(place.message, place.field, place.index, text);
}

/// The words of attributes, and names of operators that the model does not have.
std::string telling_text(Random& random) {
  static constexpr std::array<const char*, 24> texts{
      "",        "NOTSET",    "SAME_UPPER", "SAME_LOWER", "VALID",     "Reshape", "Transpose",
      "Concat",  "Split",     "Squeeze",    "Unsqueeze",  "Expand",    "Pad",     "Resize",
      "Slice",   "Gather",    "MatMul",     "Gemm",       "Conv",      "MaxPool", "ReduceMean",
      "Flatten", "linear",    "edge"};
  return texts[below(texts.size(), random)];
}

/// Raw values of a tensor: eight of its bytes become a number.
std::string with_number(std::string bytes, Random& random) {
  const std::int64_t number = telling_number(random);
  const std::size_t at = below(bytes.size() / 8 + 1, random) * 8;
  bytes.replace(at, 8, reinterpret_cast<const char*>(&number), 8);
  return bytes;
}

void change_text(const Place& place, const std::vector<Place>& places, Random& random) {
  if (place.field->type() == FieldDescriptor::TYPE_BYTES && below(2, random) == 0)
    return set_text(place, with_number(text_at(place), random));
  const Place& other = places[below(places.size(), random)];
  const bool is_text = other.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  set_text(place, is_text ? text_at(other) : telling_text(random));
}

/// Repeats the last element of a repeated field once more, or removes it.
void change_count(const Place& place, Random& random) {
  const auto* reflection = place.message->GetReflection();
  if (below(2, random) == 0) {
    reflection->RemoveLast(place.message, place.field);
  } else if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const auto& last = reflection->GetRepeatedMessage(*place.message, place.field, place.index);
    const std::unique_ptr<Message> copy(last.New());
    copy->CopyFrom(last);
    reflection->AddMessage(place.message, place.field)->CopyFrom(*copy);
  } else if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    reflection->AddInt64(place.message, place.field, telling_number(random));
  } else if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    reflection->AddString(place.message, place.field, telling_text(random));
  }
}

void change(onnx::ModelProto& model, Random& random) {
  std::vector<Place> places;
  collect(model, places);
  if (places.empty()) return;
  const Place& place = places[below(places.size(), random)];
  const bool is_message = place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (place.index >= 0 && (is_message || below(4, random) == 0)) return change_count(place, random);
  if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return change_text(place, places, random);
  if (!is_message) set_number(place, telling_number(random));
}

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  if (below(8, random) == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, most);
  for (std::size_t i = below(3, random) + 1; i > 0; --i) change(model, random);
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > most) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
