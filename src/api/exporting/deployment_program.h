#pragma once
// Inside the room: what programs of plans and of deployments share, and the latter.
#include <filesystem>
#include <vector>

#include "api/exporting/program.h"
#include "codegen/program.h"
#include "network/model_source.h"
#include "plan/plan.h"

namespace millrace::api {

plan::Plan all_simulated(const plan::Plan& plan);
/// Copies its files into the folder; `copy` names them there.
void copy_model(const network::ModelSource& source, const std::filesystem::path& folder,
                network::ModelSource& copy);
/// Where the program has the name of a network of the zoo, it would be read as that network's file.
void tell_from(const network::ModelSource& model, WrittenProgram& program);
/// Into the folder, and into the program's list.
void write_texts(const std::vector<codegen::ProgramFile>& texts,
                 const std::filesystem::path& folder, WrittenProgram& program);

/// Fills the folder, and the program's list with the files of codegen.
void add_deployment(const ProgramRequest& request, const std::filesystem::path& folder,
                    WrittenProgram& program);

}  // namespace millrace::api
