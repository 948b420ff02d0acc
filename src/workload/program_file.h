#pragma once
// Programs as JSON files that people read and edit: schemas/workload.schema.json.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "workload/workload.h"

namespace millrace::workload {

nlohmann::ordered_json to_json(const Program& program);
/// InputError, and no file, if nobody could read it: it has more steps than anyone waits for.
void write_program(const std::filesystem::path& path, const Program& program);

/// InputError naming the field. Numbers are in their ranges and indices exist; whether the program
/// makes sense is for check().
Program program_of(const JsonView& json);
Program read_program(const std::filesystem::path& path);

}  // namespace millrace::workload
