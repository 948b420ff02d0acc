#pragma once
// Inside the room: what programs of plans and of deployments share, and the latter.
#include <filesystem>
#include <vector>

#include "codegen/program.h"
#include "formats/model_source.h"
#include "plan/plan.h"
#include "product/exporting/program.h"

namespace millrace::product {

plan::Plan all_simulated(const plan::Plan& plan);
/// Copies its files into the folder; `copy` names them there.
void copy_model(const formats::ModelSource& source, const std::filesystem::path& folder,
                formats::ModelSource& copy);
/// Where the program has the name of a network of the zoo, it would be read as that network's file.
void tell_from(const formats::ModelSource& model, WrittenProgram& program);
/// Into the folder, and into the program's list.
void write_texts(const std::vector<codegen::ProgramFile>& texts,
                 const std::filesystem::path& folder, WrittenProgram& program);

/// Fills the folder, and the program's list with the files of codegen.
void add_deployment(const ProgramRequest& request, const std::filesystem::path& folder,
                    WrittenProgram& program);

}  // namespace millrace::product
