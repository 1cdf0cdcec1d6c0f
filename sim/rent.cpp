#include "sim/rent.hpp"

namespace ridgeline::sim {

void add_rent(core::Node& document, const core::ConfigLibrary& library) {
  if (document.find(kRent) != nullptr) return;
  const core::Node* machine = document.find("hw");
  const core::Node* name = machine != nullptr ? machine->find("name") : nullptr;
  const std::filesystem::path file = library.root() / "prices.yaml";
  std::error_code error;
  if (name == nullptr || !std::filesystem::exists(file, error)) return;
  const core::Node prices = core::load_yaml(file);
  const core::Node* known = prices.find(kRent);
  const core::Node* price = known != nullptr ? known->find(name->scalar) : nullptr;
  if (price != nullptr) document.entries.emplace_back(kRent, *price);
}

}  // namespace ridgeline::sim
