#include "diagnosis/evidence_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/complete.hpp"
#include "diagnosis/trials.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using core::Dimension;

/// A typed number this wide decides little.
constexpr double kWide = 1.2;

std::string text_of(const Value& value, Dimension dimension) {
  const std::string best = quantity_text(value.best, dimension);
  const std::string low = quantity_text(value.low(), dimension);
  const std::string high = quantity_text(value.high(), dimension);
  return low == high ? best : fmt::format("{} ({} to {})", best, low, high);
}

class Checker {
 public:
  Checker(const Evidence& evidence, const Places& places)
      : evidence_(evidence), known_(completed(evidence)), work_(work_of(known_)), places_(places) {}

  EvidenceCheck checked() {
    understand();
    assume();
    out_.unknown = unknown_things(evidence_);
    out_.missing = missing_numbers(evidence_);
    const Diagnosis d = diagnose(evidence_);
    out_.regime = d.regime;
    out_.confidence = d.confidence;
    return std::move(out_);
  }

 private:
  void word(std::string path, std::string_view text) {
    if (text.empty()) return;
    std::string place = places_.of(path);
    out_.understood.push_back({std::move(path), std::string(text), {}, "given", std::move(place)});
  }

  void quantity(const std::string& path, const Value& value, Dimension dimension) {
    const bool written = value.origin == Origin::given || value.origin == Origin::read;
    out_.understood.push_back({path, text_of(value, dimension), value,
                               std::string(name_of(value.origin)),
                               written ? places_.of(value.from.empty() ? path : value.from) : ""});
    const bool wide = value.low() > 0.0 && value.high() / value.low() > kWide;
    if (value.origin == Origin::given && wide)
      out_.assumed.push_back(fmt::format("{} is known only as {} to {}", path,
                                         quantity_text(value.low(), dimension),
                                         quantity_text(value.high(), dimension)));
  }

  void words_of(std::string_view section) {
    const Evidence& e = evidence_;
    const bool shipped = e.model.layers && e.model.layers->origin == Origin::read;
    const auto dtype = [&](const char* key, const std::optional<hw::Dtype>& d) {
      if (!d) return;
      word(std::string("model.") + key, hw::name_of(*d));
      if (shipped) out_.understood.back().origin = name_of(Origin::read);
    };
    const auto truth = [&](const char* key, const std::optional<bool>& b) {
      if (b) word(std::string("engine.") + key, *b ? "true" : "false");
    };
    if (section == "machine") {
      word("machine.name", e.machine.name);
      for (const auto& [d, rate] : e.machine.peak)
        quantity("machine.peak." + std::string(hw::name_of(d)), rate, Dimension::flop_per_second);
    } else if (section == "model") {
      word("model.name", e.model.name);
      dtype("weight_dtype", e.model.weight_dtype);
      dtype("activation_dtype", e.model.activation_dtype);
      dtype("kv_cache_dtype", e.model.kv_cache_dtype);
    } else if (section == "engine") {
      word("engine.name", e.engine.name);
      truth("enforce_eager", e.engine.enforce_eager);
      truth("enable_prefix_caching", e.engine.enable_prefix_caching);
      truth("async_scheduling", e.engine.async_scheduling);
    } else if (section == "serving" && e.serving.arrivals) {
      word("serving.arrivals", name_of(*e.serving.arrivals));
    } else if (section == "profile") {
      if (e.profile.window) word("profile.window", name_of(*e.profile.window));
      for (const auto& [group, share] : known_.profile.kernel_time)
        quantity("profile.kernel_time." + std::string(name_of(group)), share, Dimension::fraction);
    }
  }

  void understand() {
    Evidence copy = known_;  // the table of fields hands out references that may be written through
    std::string_view section;
    for (const Field& field : evidence_fields()) {
      if (field.section != section) words_of(section = field.section);
      if (const Maybe& value = field.at(copy)) quantity(field.path(), *value, field.dimension);
    }
    for (const Trial& trial : evidence_.trials) {
      if (trial.effects.empty()) continue;
      const Trial::Effect& effect = main_effect(trial, work_.window);
      word(trial.from,
           fmt::format("{}: {} {}", trial.change, effect.measure, gain_text(effect.gain.interval)));
    }
    if (!evidence_.sweep.empty()) word("sweep", fmt::format("{} points", evidence_.sweep.size()));
    if (!evidence_.kernels.empty())
      word("kernels", fmt::format("{} rows", evidence_.kernels.size()));
    const auto list = [&](const char* path, const std::vector<std::string>& words) {
      std::string text;
      for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
      word(path, text);
    };
    list("symptoms", evidence_.symptoms);
    list("proposals", evidence_.proposals);
  }

  void assume() {
    const auto say = [&](std::string sentence) { out_.assumed.push_back(std::move(sentence)); };
    const auto is_assumed = [](const Maybe& v) { return v && v->origin == Origin::assumed; };
    if (!evidence_.profile.window)
      say(fmt::format("these numbers are about {}, by what was measured",
                      work_.window == Window::training  ? "training"
                      : work_.window == Window::prefill ? "prefill"
                      : work_.window == Window::kernel  ? "single kernels"
                                                        : "decode steps"));
    if (!evidence_.machine.devices && work_.window != Window::kernel)
      say("one device holds the model");
    if (work_.weight_bytes && !evidence_.model.weight_dtype && !evidence_.model.weight_bytes)
      say("weights are in 16 bits: " + bytes_text(work_.weight_bytes->best));
    else if (is_assumed(work_.weight_bytes))
      say("weights are " + bytes_text(work_.weight_bytes->best));
    if (!evidence_.model.activation_dtype && work_.peak)
      say(fmt::format("matrices are multiplied in {}", hw::name_of(work_.dtype)));
    if (is_assumed(work_.kv_per_token))
      say(fmt::format("a token takes {} to {} of KV cache, as in a dense model of this size",
                      bytes_text(work_.kv_per_token->low()),
                      bytes_text(work_.kv_per_token->high())));
    if (is_assumed(work_.kv_room) && work_.window == Window::decode)
      say(fmt::format("the KV cache has {} to {}, what the weights leave",
                      bytes_text(work_.kv_room->low()), bytes_text(work_.kv_room->high())));
    if (work_.sequences && !evidence_.serving.concurrency && work_.window == Window::decode)
      say(fmt::format("{} sequences decode together", number_text(work_.sequences->best)));
  }

  const Evidence& evidence_;
  Evidence known_;
  Work work_;
  const Places& places_;
  EvidenceCheck out_;
};

void put_sentences(std::string& out, std::string_view title,
                   const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  out += fmt::format("\n{}\n", title);
  for (const std::string& sentence : sentences) out += "  " + sentence + "\n";
}

}  // namespace

EvidenceCheck check_evidence(const Evidence& evidence, const Places& places) {
  require_sensible(evidence);
  return Checker(evidence, places).checked();
}

nlohmann::ordered_json to_json(const EvidenceCheck& check, const std::vector<std::string>& notes) {
  nlohmann::ordered_json json;
  json["regime"] = name_of(check.regime);
  json["confidence"] = check.confidence;
  auto& understood = json["understood"] = nlohmann::ordered_json::array();
  for (const Understood& fact : check.understood) {
    nlohmann::ordered_json item{{"path", fact.path}};
    if (fact.value) {
      item["value"] = fact.value->best;
      item["low"] = fact.value->low();
      item["high"] = fact.value->high();
    } else {
      item["value"] = fact.text;
    }
    item["origin"] = fact.origin;
    if (!fact.place.empty()) item["place"] = fact.place;
    understood.push_back(std::move(item));
  }
  json["assumed"] = check.assumed;
  json["unknown"] = check.unknown;
  auto& missing = json["missing"] = nlohmann::ordered_json::array();
  for (const Missing& m : check.missing) {
    nlohmann::ordered_json item{{"path", m.path},
                                {"meaning", m.meaning},
                                {"separates", m.separates},
                                {"sentence", m.sentence}};
    auto& bands = item["bands"] = nlohmann::ordered_json::array();
    for (const Band& band : m.bands) {
      nlohmann::ordered_json b{{"regime", name_of(band.regime)},
                               {"confidence", {band.confidence.low, band.confidence.high}}};
      if (m.is_switch) {
        b["value"] = band.values.low > 0.5;
      } else {
        b["from"] = band.values.low;
        b["to"] = band.values.high;
      }
      bands.push_back(std::move(b));
    }
    missing.push_back(std::move(item));
  }
  json["notes"] = notes;
  return json;
}

namespace {

/// What a configuration says of a machine or a model is long, and nobody doubts it.
bool stands_in_configuration(const Understood& fact) {
  const bool of_thing = fact.path.starts_with("machine.") || fact.path.starts_with("model.");
  return of_thing && fact.origin == name_of(Origin::read);
}

}  // namespace

std::string to_text(const EvidenceCheck& check, const std::vector<std::string>& notes) {
  std::string out = "Understood\n";
  std::size_t width = 0;
  std::size_t known = 0;
  for (const Understood& fact : check.understood) {
    if (stands_in_configuration(fact)) {
      ++known;
    } else {
      width = std::max(width, fact.path.size());
    }
  }
  for (const Understood& fact : check.understood) {
    if (stands_in_configuration(fact)) continue;
    out += fmt::format("  {:<{}}  {}  [{}{}{}]\n", fact.path, width, fact.text, fact.origin,
                       fact.place.empty() ? "" : ", ", fact.place);
  }
  if (known > 0)
    out += fmt::format("  and {} facts of the machine and the model from their configurations\n",
                       known);
  put_sentences(out, "Assumed", check.assumed);
  put_sentences(out, "Not known", check.unknown);
  put_sentences(out, "Notes", notes);
  out += fmt::format("\nSo far: {}, confidence {:.0f} %\n", name_of(check.regime),
                     100.0 * check.confidence);
  if (check.missing.empty()) return out + "No single number would change that.\n";
  out += "\nMissing, what tells most first\n";
  for (const Missing& m : check.missing) out += fmt::format("  {}: {}\n", m.path, m.sentence);
  return out;
}

}  // namespace ridgeline::diagnosis
