// From one layout or type to another.
#include "base/error.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {

/// oneDNN's kernels that move numbers get zero points wrong for some numbers of channels.
Value Builder::convert_apart(Value value, const Packing& packing, const Encoding& encoding) {
  const Desc before = retyped(packing.from, Type::f32), after = retyped(packing.to, Type::f32);
  value.desc = packing.from;
  if (type_of(packing.from) != Type::f32) value = convert(value, {packing.from, before});
  value = convert(value, {before, after});
  return type_of(packing.to) == Type::f32 ? value : convert(value, {after, packing.to}, encoding);
}

/// On 64-bit ARM, oneDNN knows no numbers of 16 bits.
Value Builder::convert_halves(Value value, const Packing& packing, const Encoding& encoding) {
  const auto cast_to = [&](Type type) {
    const Value made = program_.make_temporary(retyped(value.desc, type));
    program_.run(cast_of_halves(value, made), "reorder");
    value = made;
  };
  value.desc = packing.from;
  if (has_own_half(type_of(packing.from))) cast_to(Type::f32);
  const bool to_halves = has_own_half(type_of(packing.to));
  const Desc after = to_halves ? retyped(packing.to, Type::f32) : packing.to;
  if (!packing.scales.change_nothing() || !same_memory(value.desc, after))
    value = convert(value, {value.desc, after, packing.scales}, encoding);
  if (to_halves) cast_to(type_of(packing.to));
  return value;
}

/// By loops of ours, where oneDNN's are for single numbers: they move numbers as bytes.
std::optional<Value> Builder::convert_bytes(const Value& value, const Packing& packing,
                                            const Encoding& encoding) {
  Value from = value;
  from.desc = packing.from;
  const auto is_number = [](const Desc& desc) {
    return is_quantized(desc) || type_of(desc) == Type::f32;
  };
  const Type to = type_of(packing.to);
  const bool encodes = type_of(packing.from) != to || !(value.encoding == encoding);
  const bool has_bytes = is_quantized(packing.from) || is_quantized(packing.to);
  const bool moves = !same_memory(retyped(packing.from, to), packing.to);
  if (has_integer_products() || !byte_unit() || !has_bytes || !dense_strides(packing.from) ||
      !packing.scales.change_nothing() || !is_number(packing.from) || !is_number(packing.to) ||
      (moves && !can_turn_bytes(packing.from, packing.to)))
    return std::nullopt;
  const auto encode = [&](const Value& source) {
    Value made = program_.make_temporary(retyped(source.desc, to));
    made.encoding = encoding;
    program_.run(encoding_of_bytes(source, made), "reorder");
    return made;
  };
  const bool first = encodes && is_quantized(packing.to);
  if (first) from = encode(from);
  if (moves) {
    Value made = program_.make_temporary(retyped(packing.to, type_of(from.desc)));
    made.encoding = from.encoding;
    program_.run(turn_of_bytes(from, made), "reorder");
    from = made;
  }
  return encodes && !first ? encode(from) : from;
}

Value Builder::convert(const Value& value, const Packing& packing, const Encoding& encoding) {
  if (has_own_half(type_of(packing.from)) || has_own_half(type_of(packing.to)))
    return convert_halves(value, packing, encoding);
  if (const auto made = convert_bytes(value, packing, encoding)) return *made;
  const bool moves = !same_memory(retyped(packing.from, Type::f32), retyped(packing.to, Type::f32));
  if (moves && packing.scales.change_nothing() && (value.encoding.zero != 0 || encoding.zero != 0))
    return convert_apart(value, packing, encoding);
  Conversion conversion{packing.scales, value.encoding.zero, encoding.zero};
  for (float& factor : conversion.scales.factors) factor *= value.encoding.scale / encoding.scale;
  const bool only_moves =
      conversion.scales.change_nothing() && value.encoding.zero == encoding.zero;
  Value from = value, made = program_.make_temporary(packing.to);
  from.desc = packing.from;
  made.encoding = encoding;
  if (const auto turn = only_moves ? fast_turn(from, made) : std::nullopt) {
    program_.run(*turn, "reorder");
    return made;
  }
  Kernel kernel = reorder(engine(), packing.from, packing.to, conversion);
  if (!kernel)
    throw EngineError("oneDNN cannot convert " + format_of({packing.from}) + " to " +
                      format_of({packing.to}));
  kernel.name = "reorder";
  program_.run(kernel, {{DNNL_ARG_FROM, value}}, {{DNNL_ARG_TO, made}});
  return made;
}

}  // namespace millrace::engine::onednn
