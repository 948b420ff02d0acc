#pragma once
// Inputs whose values are given as text: they are the constants of a model's source.
#include <string>
#include <string_view>
#include <vector>

#include "formats/model_source.h"

namespace millrace::formats {

/// Adds "sr=16000" or "lengths=5,3": one number, for all places of the input, or a number for each;
/// "true" and "false" are numbers too. They are int64, or float64 if one has a fraction; the
/// importer makes them the input's. InputError if it is none, or the second for this input; its
/// place is `place` and the text.
void add_fixed(ModelSource& source, const std::string& text, const std::string& place);
/// One text for each, as add_fixed takes it.
std::vector<std::string> fixed_texts(const ModelSource& source);
/// The same with blanks between them; and the other way round. Names may hold blanks.
std::string fixed_text(const ModelSource& source);
void add_all_fixed(ModelSource& source, const std::string& text, const std::string& place);

/// At blanks after an '=' and a value.
std::vector<std::string> split_values(const std::string& text, bool (*is_value)(std::string_view));

/// Whether it says nothing of how the file is read, but for the seed.
bool is_read_as_it_is(const ModelSource& source);

}  // namespace millrace::formats
