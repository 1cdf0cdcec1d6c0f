#include "whatif/exercise/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "diagnosis/prose.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/trials.hpp"
#include "whatif/exercise/amounts.hpp"

namespace ridgeline::whatif {
namespace {

using core::Dimension;
using diagnosis::Evidence;
using diagnosis::Field;

/// "HBM fraction" for hbm_fraction.
std::string label_of(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWritten{
      {{"hbm", "HBM"},
       {"kv", "KV"},
       {"flop", "FLOP"},
       {"gemm", "GEMM"},
       {"ttft", "time to first token"},
       {"itl", "inter-token latency"},
       {"p99", "(99th percentile)"},
       {"max", "max"},
       {"gpu", "GPU"}}};
  if (key.starts_with("max_num_")) return std::string(key);  // vLLM's argument
  std::string out;
  std::size_t at = 0;
  while (at <= key.size()) {
    const std::size_t end = std::min(key.find('_', at), key.size());
    std::string word(key.substr(at, end - at));
    for (const auto& [from, to] : kWritten) {
      if (word == from) word = to;
    }
    out += (out.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out;
}

/// What a field means in that window, without the hint on how to type it. The table says
/// "training: sequences a device and step", "of one step (prefill: of a prompt; training: ...)".
std::string meaning_of(const Field& field, diagnosis::Window window) {
  if (field.key == "kernel_length") return "";  // how to type it is all there is
  if (field.key == "itl" || field.key == "ttft") return "mean or median";
  std::string_view text = field.meaning;
  text = text.substr(0, text.find(": '"));
  constexpr std::string_view kTraining = "training: ";
  if (text.starts_with(kTraining)) return std::string(text.substr(kTraining.size()));
  const std::size_t aside = text.find(" (");
  if (aside == std::string_view::npos || text.find(": ", aside) == std::string_view::npos)
    return std::string(text);
  const std::string here = fmt::format("{}: ", diagnosis::name_of(window));
  if (const std::size_t at = text.find(here, aside); at != std::string_view::npos) {
    const std::size_t begin = at + here.size();
    return std::string(text.substr(begin, text.find_first_of(";)", begin) - begin));
  }
  return std::string(text.substr(0, aside));
}

std::string_view counted_by(const Field& field) {
  return field.key.find("request") != std::string_view::npos ? "requests" : "tokens";
}

std::string amount(const Field& field, const diagnosis::Value& value) {
  return as_written(value.interval, field.dimension, counted_by(field));
}

class Sheet {
 public:
  Sheet(const Evidence& evidence, const SheetHead& head) : e_(evidence), head_(head) {
    for (const Field& field : diagnosis::evidence_fields()) {
      if (varies(field)) varied_.insert(&field);
    }
  }

  [[nodiscard]] std::string text() {
    std::string out = diagnosis::wrapped(head_.title, 0);
    out += paragraph("Machine", machine());
    out += paragraph("Model", model());
    out += block("Serving", serving());
    out += block("Measured", table("measured"));
    out += block(profile_name(), profile());
    out += block("Kernels", kernels());
    out += block("The same server at several points", sweep());
    out += block("Somebody tried", trials());
    out += block("Seen", symptoms());
    if (!head_.counts.empty()) out += "\n" + diagnosis::wrapped("What counts: " + head_.counts, 2);
    return out;
  }

 private:
  static std::string paragraph(const std::string& name, const std::string& sentence) {
    return sentence.empty() ? "" : "\n" + name + "\n" + diagnosis::wrapped("  " + sentence, 4);
  }
  static std::string block(const std::string& name, const std::string& lines) {
    return lines.empty() ? "" : "\n" + name + "\n" + lines;
  }
  static std::string line(const std::string& label, const std::string& amount,
                          const std::string& meaning) {
    return diagnosis::wrapped(
        fmt::format("  {:<34}{}{}", label, amount, meaning.empty() ? "" : "  " + meaning), 36);
  }

  /// Of a sweep the last point is read as the evidence itself; a quantity that the points differ in
  /// stands with them.
  [[nodiscard]] bool varies(const Field& field) {
    for (Evidence& point : e_.sweep) {
      const diagnosis::Maybe& here = field.at(point);
      const diagnosis::Maybe& first = field.at(e_.sweep.front());
      if (here.has_value() != first.has_value()) return true;
      if (here && !(here->interval == first->interval)) return true;
    }
    return false;
  }

  [[nodiscard]] std::string table(std::string_view section) {
    std::string out;
    for (const Field& field : diagnosis::evidence_fields()) {
      if (field.section != section || varied_.contains(&field)) continue;
      if (const diagnosis::Maybe& value = field.at(e_))
        out += line(label_of(field.key), amount(field, *value), meaning_of(field, window_));
    }
    return out;
  }

  /// "32 layers, 304 compute units": a section in one sentence.
  [[nodiscard]] std::vector<std::string> facts(std::string_view section) {
    std::vector<std::string> out;
    for (const Field& field : diagnosis::evidence_fields()) {
      if (field.section != section || varied_.contains(&field)) continue;
      const diagnosis::Maybe& value = field.at(e_);
      const bool told_apart = field.key == "devices" || field.key == "weight_bytes";
      if (!value || told_apart) continue;
      const std::string what = label_of(field.key);
      const bool counted = field.dimension == Dimension::none && what.ends_with('s');
      out.push_back(counted ? amount(field, *value) + " " + what
                            : what + " " + amount(field, *value));
    }
    return out;
  }

  [[nodiscard]] std::string machine() {
    std::vector<std::string> parts = facts("machine");
    std::vector<std::pair<std::string, std::vector<std::string_view>>> rates;  // dtypes of a peak
    for (const auto& [dtype, peak] : e_.machine.peak) {
      if (hw::bytes_of(dtype) > hw::bytes_of(hw::Dtype::fp16)) continue;
      const std::string rate = as_written(peak.interval, Dimension::flop_per_second);
      auto same = std::find_if(rates.begin(), rates.end(),
                               [&](const auto& other) { return other.first == rate; });
      if (same == rates.end()) same = rates.insert(rates.end(), {rate, {}});
      same->second.push_back(hw::name_of(dtype));
    }
    std::string peaks;
    for (const auto& [rate, dtypes] : rates) {
      peaks += fmt::format("{}{} in {}", peaks.empty() ? "" : ", ", rate,
                           fmt::join(dtypes, dtypes.size() > 2 ? "/" : " and "));
    }
    if (!peaks.empty()) parts.push_back("peak matrix rate " + peaks);
    const bool several = e_.machine.devices && e_.machine.devices->best > 1.0;
    if (several && e_.machine.link_rate > 0.0 && !e_.machine.link_bandwidth) {
      parts.push_back(fmt::format(
          "{} {}", e_.machine.linked_in_pairs ? "links between two devices of" : "a link of",
          as_written(core::Interval(e_.machine.link_rate), Dimension::bytes_per_second)));
    }
    std::string out = e_.machine.name;
    if (several && !varied_.contains(diagnosis::find_field("machine.devices"))) {
      out = fmt::format("{} devices that share one copy of the model{}{}",
                        as_written(e_.machine.devices->interval, Dimension::none),
                        out.empty() ? "" : ", each ", out);
    }
    return joined(std::move(out), parts);
  }

  [[nodiscard]] std::string model() {
    const diagnosis::Model& m = e_.model;
    std::vector<std::string> parts = facts("model");
    const std::string weights =
        m.weight_bytes ? as_written(m.weight_bytes->interval, Dimension::bytes) + " of weights"
                       : "weights";
    if (m.weight_bytes || m.weight_dtype) {
      parts.push_back(weights +
                      (m.weight_dtype ? fmt::format(" in {}", hw::name_of(*m.weight_dtype)) : ""));
    }
    if (m.activation_dtype)
      parts.push_back(fmt::format("activations in {}", hw::name_of(*m.activation_dtype)));
    if (m.kv_cache_dtype)
      parts.push_back(fmt::format("KV cache in {}", hw::name_of(*m.kv_cache_dtype)));
    return joined(m.name, parts);
  }

  static std::string joined(std::string name, const std::vector<std::string>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      name += (i > 0 ? ", " : name.empty() ? "" : ": ") + parts[i];
    return name;
  }

  [[nodiscard]] std::string serving() {
    std::string out;
    const std::string& engine = head_.engine.empty() ? e_.engine.name : head_.engine;
    if (!engine.empty()) out += line("engine", engine, "");
    const auto flag = [&out](const char* key, std::optional<bool> set) {
      if (set) out += line(key, *set ? "on" : "off", "");
    };
    flag("enforce_eager", e_.engine.enforce_eager);
    flag("enable_prefix_caching", e_.engine.enable_prefix_caching);
    out += table("engine");
    if (e_.serving.arrivals) {
      constexpr std::array<std::string_view, 3> kWords{
          "one at a time: the next comes when the last is done", "when they come",
          "always one more waiting"};
      out += line("requests come",
                  std::string(kWords[static_cast<std::size_t>(*e_.serving.arrivals)]), "");
    }
    return out + table("serving") + table("memory");
  }

  [[nodiscard]] std::string profile_name() const {
    if (!e_.profile.window) return "Profile";
    constexpr std::array<std::string_view, 4> kOf{"of decode steps", "of prefill",
                                                  "of a training step", "of one kernel"};
    return fmt::format("Profile, {}", kOf[static_cast<std::size_t>(*e_.profile.window)]);
  }

  [[nodiscard]] std::string profile() {
    std::string out = table("profile");
    std::string shares;
    for (const auto& [group, share] : e_.profile.kernel_time) {
      shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", diagnosis::name_of(group),
                            as_written(share.interval, Dimension::fraction));
    }
    return shares.empty() ? out : out + line("kernel time", shares, "");
  }

  [[nodiscard]] std::string kernels() const {
    std::string out;
    for (const diagnosis::KernelRow& row : e_.kernels) {
      std::string facts;
      const auto tell = [&](const diagnosis::Maybe& value, Dimension d, std::string_view before,
                            std::string_view after) {
        if (!value) return;
        facts += fmt::format("{}{}{}{}", facts.empty() ? "" : ", ", before,
                             as_written(value->interval, d), after);
      };
      tell(row.calls, Dimension::none, "", " calls");
      if (row.time && row.flop) {
        tell(*row.flop / *row.time, Dimension::flop_per_second, "", "");
      } else {
        tell(row.time, Dimension::time, "", "");
      }
      tell(row.share, Dimension::fraction, "", " of kernel time");
      tell(row.bytes, Dimension::bytes, "",
           row.group == diagnosis::KernelGroup::collective ? " a message" : " moved");
      tell(row.occupied, Dimension::fraction, "its workgroups fill ", " of the compute units");
      out +=
          line(row.name.empty() ? std::string(diagnosis::name_of(row.group)) : row.name, facts, "");
    }
    return out;
  }

  [[nodiscard]] std::string sweep() {
    std::string out;
    for (Evidence& point : e_.sweep) {
      std::string facts;
      for (const Field& field : diagnosis::evidence_fields()) {
        if (!varied_.contains(&field)) continue;
        if (const diagnosis::Maybe& value = field.at(point)) {
          facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", label_of(field.key),
                               amount(field, *value));
        }
      }
      out += diagnosis::wrapped("  " + facts, 4);
    }
    return out;
  }

  [[nodiscard]] std::string trials() const {
    std::string out;
    for (const diagnosis::Trial& trial : e_.trials) {
      for (const diagnosis::Trial::Effect& effect : trial.effects) {
        const double gain = effect.gain.best;
        out += diagnosis::wrapped(
            fmt::format("  {}{}{}: {} {:.2f}x {}", diagnosis::find_change(trial.change)->title,
                        trial.when.empty() ? "" : " (" + trial.when + ")",
                        trial.with ? ", in place now" : "",
                        effect.measure == "speedup" ? "the speed" : label_of(effect.measure),
                        gain >= 1.0 ? gain : 1.0 / gain, gain >= 1.0 ? "better" : "worse"),
            4);
      }
    }
    return out;
  }

  [[nodiscard]] std::string symptoms() const {
    std::string out;
    for (const std::string& name : e_.symptoms)
      out += diagnosis::wrapped(fmt::format("  {}", diagnosis::find_symptom(name)->meaning), 4);
    return out;
  }

  Evidence e_;  // a copy: the table of fields hands out references that may be written through
  SheetHead head_;
  diagnosis::Window window_ = e_.profile.window.value_or(diagnosis::Window::decode);
  std::set<const Field*> varied_;
};

}  // namespace

std::string sheet_of(const Evidence& evidence, const SheetHead& head) {
  return Sheet(evidence, head).text();
}

}  // namespace ridgeline::whatif
