#include "diagnosis/pasted/gathered.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/quantity_text.hpp"
#include "diagnosis/pasted/rows.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::size_t kValuesKept = 64;  // of one key; more devices share no server
constexpr std::size_t kNotesKept = 100;  // nobody reads more

std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 120;
  if (text.size() <= kShown) return std::string(text);
  std::size_t end = kShown;  // not within a character
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

/// A time or a rate must be something; a count or a share may be nothing.
bool is_nothing(const Number& number) {
  return number.value == 0.0 && (number.rest == "/s" || !time_unit(number.rest).empty());
}

/// Two counts that can both be right: "1949520" and "1949368-1950024".
bool agree(const std::string& a, const std::string& b) {
  const auto left = core::parse_interval(a, core::Dimension::none);
  const auto right = core::parse_interval(b, core::Dimension::none);
  return left && right && left->low <= right->high && right->low <= left->high;
}

}  // namespace

void Gathered::add(std::string_view key, std::string value, const Line& line, Source source,
                   Repeat repeat) {
  if (value.empty()) return;
  const auto number = number_at(value);
  if (number && is_nothing(*number)) {
    doubt(line, fmt::format("{} is zero: nothing was measured", key));
    return;
  }
  auto [it, is_new] = entries_.try_emplace(std::string(key));
  Entry& entry = it->second;
  if (is_new) entry.repeat = repeat;
  for (const Said& said : entry.said) {
    if (said.source == source && said.fact.value == value) return;
  }
  if (entry.repeat == Repeat::running_total && !entry.said.empty() &&
      entry.said.back().source == source) {
    Said& last = entry.said.back();
    if (number && number->value > last.number) {
      last.fact.value = std::move(value);
      last.fact.line = std::string(line.text);
      last.fact.line_number = line.number;
      last.number = number->value;
    }
    return;
  }
  if (entry.said.size() >= kValuesKept) {
    ++entry.more;
    return;
  }
  entry.said.push_back({{std::string(key), std::move(value), std::string(line.text), line.number,
                         std::string(format_)},
                        number ? number->value : 0.0,
                        source});
}

void Gathered::note(std::string sentence) {
  if (noted_.size() < kNotesKept && noted_.insert(sentence).second)
    notes_.push_back(std::move(sentence));
}

void Gathered::doubt(const Line& line, std::string_view why) {
  if (noted_.size() >= kNotesKept) return;
  note(fmt::format("line {}: {}: {}", line.number, why, excerpt(line.text)));
}

PastedFact Gathered::middle_of(const std::string& key, std::vector<Said> said, std::size_t more) {
  std::stable_sort(said.begin(), said.end(),
                   [](const Said& a, const Said& b) { return a.number < b.number; });
  note(fmt::format("{}: {} values from {} to {}; the middle one is taken", key, said.size() + more,
                   said.front().fact.value, said.back().fact.value));
  return said[(said.size() - 1) / 2].fact;
}

std::vector<PastedFact> Gathered::settled() {
  std::vector<PastedFact> facts;
  for (auto& [key, entry] : entries_) {
    const Source best =
        std::max_element(entry.said.begin(), entry.said.end(), [](const Said& a, const Said& b) {
          return a.source < b.source;
        })->source;
    std::vector<Said> candidates;
    for (const Said& said : entry.said) {
      if (said.source == best) candidates.push_back(said);
    }
    const PastedFact& first = candidates.front().fact;
    if (candidates.size() > 1 && entry.repeat == Repeat::contradiction) {
      note(fmt::format("{}: line {} says {}, line {} says {}{}; neither is taken", key,
                       first.line_number, first.value, candidates[1].fact.line_number,
                       candidates[1].fact.value,
                       candidates.size() + entry.more > 2 ? ", others differ too" : ""));
      continue;
    }
    facts.push_back(candidates.size() > 1 ? middle_of(key, candidates, entry.more) : first);
    for (const Said& said : entry.said) {
      const PastedFact& taken = facts.back();
      if (said.source == best || said.fact.value == taken.value ||
          agree(said.fact.value, taken.value))
        continue;
      note(fmt::format("{}: {} of {} (line {}) is taken; {} (line {}) has {}", key, taken.value,
                       taken.format, taken.line_number, said.fact.format, said.fact.line_number,
                       said.fact.value));
      break;
    }
  }
  std::stable_sort(facts.begin(), facts.end(), [](const PastedFact& a, const PastedFact& b) {
    return a.line_number < b.line_number;
  });
  return facts;
}

}  // namespace ridgeline::diagnosis::pasted
