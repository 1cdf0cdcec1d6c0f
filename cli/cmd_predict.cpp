#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/command.hpp"
#include "fidelity/predict.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string operation;
  std::string table;
  std::string hw;
};

int predict(const Options& options) {
  const fidelity::Operation& operation = fidelity::operation_named(options.operation);
  const core::ConfigLibrary library = core::ConfigLibrary::standard();
  fidelity::Machines machines(
      library, options.hw.empty() ? std::nullopt : std::optional<std::string>(options.hw));
  if (!options.hw.empty()) static_cast<void>(machines.named(options.hw));
  const fidelity::Table table = fidelity::load_table(options.table);
  const std::size_t predicted = fidelity::predict(operation, table, machines, std::cout);
  if (predicted == 0 && !table.rows.empty()) {
    fmt::print(stderr, "ridgeline: {}: no row could be predicted; the flags say why\n", table.name);
    return kFailedCheck;
  }
  return kDone;
}

}  // namespace

Action declare_predict(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("operation", options->operation,
                 "gemm, attention, allreduce, moe, stream, or of a served model's profile layer, "
                 "step_attention, step_experts")
      ->required()
      ->type_name("OPERATION");
  app.add_option("table", options->table, "a CSV file with a header, '-' for standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("--hw", options->hw,
                 "the machine of every row, whatever its hw column says: a name or a file")
      ->type_name("HW");
  std::string columns = "\nColumns, others are kept as they are:\n";
  for (const fidelity::Operation& operation : fidelity::operations())
    columns += "  " + std::string(operation.name) + "\t" + std::string(operation.columns) + "\n";
  columns += "  layers of a served model: " + fidelity::layer_names() + "\n";
  app.footer(columns +
             "\nThe table comes out again with predicted_us, low_us, high_us (nine of ten "
             "measurements lie between), binds and flags:\n"
             "  ridgeline predict gemm shapes.csv\n"
             "  printf 'hw,M,N,K,dtype\\nMI300X,16,8192,8192,bf16\\n' | ridgeline predict gemm -");
  return [options] { return predict(*options); };
}

}  // namespace ridgeline::cli
