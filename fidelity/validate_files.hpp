#pragma once
// Every table below some files and folders, of kernels and of servers, held against predictions.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "fidelity/validate.hpp"

namespace ridgeline::fidelity {

/// What an error says of files without a table of measured kernels.
[[nodiscard]] std::string no_table(const std::vector<std::filesystem::path>& data);

/// `hw`: the machine of every row of kernels, whatever its hw column says. `scenario`: the server
/// of recorded runs; without it those in folders are passed over, as tables of other kinds are.
/// `progress` is told how many rows of a table of servers are done; false stops. ConfigError where
/// nothing is left, or a file is no table.
[[nodiscard]] std::vector<Group> validate_files(
    const std::vector<std::filesystem::path>& data, const core::ConfigLibrary& library,
    const std::optional<std::string>& hw, const std::optional<std::string>& scenario,
    const std::function<bool(std::size_t done, std::size_t of)>& progress = {});

}  // namespace ridgeline::fidelity
