#include "core/reader.hpp"

#include <charconv>
#include <cmath>

namespace ridgeline::core {
namespace {

/// "8" or "+8"; nothing for anything else.
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* begin = text.data() + (text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

Reader::Reader(const Node& node, std::string path)
    : Reader(node, std::move(path), std::make_shared<Account>()) {}

Reader::Reader(const Node& node, std::string path, std::shared_ptr<Account> account)
    : node_(&node), path_(std::move(path)), account_(std::move(account)) {
  account_->read.insert(&node);
  if (node.kind != Node::Kind::map) {
    throw ConfigError(node.position.text() + ": " +
                      (path_.empty() ? std::string("document") : path_) + ": expected a map, got " +
                      node.describe());
  }
  account_->asked[&node];
}

bool Reader::has(std::string_view key) const {
  account_->asked[node_].insert(std::string(key));
  const Node* found = node_->find(key);
  if (found != nullptr && found->kind == Node::Kind::null)
    account_->read.insert(found);  // `key:` with nothing is absence
  return found != nullptr && found->kind != Node::Kind::null;
}

const Node& Reader::at(std::string_view key, const std::string& expected) const {
  account_->asked[node_].insert(std::string(key));
  const Node* found = node_->find(key);
  if (found == nullptr) {
    throw ConfigError(node_->position.text() + ": " + dotted(key) + ": expected " + expected +
                      ", got nothing (the key is missing)");
  }
  account_->read.insert(found);
  return *found;
}

const std::string& Reader::scalar(std::string_view key, const std::string& expected) const {
  const Node& found = at(key, expected);
  if (found.kind != Node::Kind::scalar) fail(key, expected);
  return found.scalar;
}

double Reader::quantity(std::string_view key, Dimension dimension) const {
  const std::string expected = expected_text(dimension);
  const auto value = parse_quantity(scalar(key, expected), dimension);
  if (!value) fail(key, expected);
  return *value;
}

template <>
std::string Reader::get<std::string>(std::string_view key) const {
  return scalar(key, "a word");
}
template <>
bool Reader::get<bool>(std::string_view key) const {
  const std::string& word = scalar(key, "true or false");
  if (word == "true") return true;
  if (word == "false") return false;
  fail(key, "true or false");
}
template <>
double Reader::get<double>(std::string_view key) const {
  return quantity(key, Dimension::none);
}
template <>
std::int64_t Reader::get<std::int64_t>(std::string_view key) const {
  return integer(key, INT64_MIN, INT64_MAX);
}
// Physical amounts are never negative; a rate of zero would make every time infinite.
template <>
Seconds Reader::get<Seconds>(std::string_view key) const {
  const double v = quantity(key, Dimension::time);
  require(v >= 0.0, key, "a time of zero or more");
  return Seconds{v};
}
template <>
Bytes Reader::get<Bytes>(std::string_view key) const {
  const double v = quantity(key, Dimension::bytes);
  require(v >= 0.0, key, "zero or more bytes");
  return Bytes{v};
}
template <>
Flop Reader::get<Flop>(std::string_view key) const {
  const double v = quantity(key, Dimension::flop);
  require(v >= 0.0, key, "zero or more FLOP");
  return Flop{v};
}
template <>
BytesPerSecond Reader::get<BytesPerSecond>(std::string_view key) const {
  const double v = quantity(key, Dimension::bytes_per_second);
  require(v > 0.0, key, "a bandwidth above zero");
  return BytesPerSecond{v};
}
template <>
FlopPerSecond Reader::get<FlopPerSecond>(std::string_view key) const {
  const double v = quantity(key, Dimension::flop_per_second);
  require(v > 0.0, key, "a rate above zero");
  return FlopPerSecond{v};
}

double Reader::fraction(std::string_view key, double low, double high) const {
  const double v = quantity(key, Dimension::fraction);
  const auto show = [](double x) {
    std::string s = std::to_string(x);
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
    return s;
  };
  if (v < low || v > high)
    fail(key, "a fraction between " + show(low) + " and " + show(high),
         per_cent_hint(get<std::string>(key)));
  return v;
}

std::int64_t Reader::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
  std::string expected = "a whole number";
  if (low != INT64_MIN && high != INT64_MAX) {
    expected += " from " + std::to_string(low) + " to " + std::to_string(high);
  } else if (low != INT64_MIN) {
    expected += " of at least " + std::to_string(low);
  }
  const auto value = whole_number(scalar(key, expected));
  if (!value || *value < low || *value > high) fail(key, expected);
  return *value;
}

void Reader::require(bool holds, std::string_view key, const std::string& what) const {
  if (!holds) fail(key, what);
}

Interval Reader::interval(std::string_view key, Dimension dimension) const {
  const std::string expected =
      expected_text(dimension) + " (a range 'a-b', '~a' and '=a' are understood)";
  const auto value = parse_interval(scalar(key, expected), dimension);
  if (!value) fail(key, expected);
  return *value;
}

Reader Reader::child(std::string_view key) const {
  return {at(key, "a map"), dotted(key), account_};
}

std::vector<Reader> Reader::list(std::string_view key) const {
  const Node& found = at(key, "a list of maps");
  if (found.kind != Node::Kind::list) fail(key, "a list of maps");
  std::vector<Reader> out;
  for (std::size_t i = 0; i < found.items.size(); ++i) {
    out.push_back(Reader(found.items[i], dotted(key) + "[" + std::to_string(i) + "]", account_));
  }
  return out;
}

std::vector<std::string> Reader::words(std::string_view key) const {
  const Node& found = at(key, "a list of words");
  if (found.kind != Node::Kind::list) fail(key, "a list of words");
  std::vector<std::string> out;
  for (const Node& item : found.items) {
    if (item.kind != Node::Kind::scalar) {
      throw ConfigError(item.position.text() + ": " + dotted(key) + ": expected a word, got " +
                        item.describe());
    }
    account_->read.insert(&item);
    out.push_back(item.scalar);
  }
  return out;
}

std::vector<std::int64_t> Reader::integers(std::string_view key, std::int64_t low,
                                           std::int64_t high) const {
  constexpr const char* kExpected = "a list of whole numbers";
  if (at(key, kExpected).kind != Node::Kind::list) fail(key, kExpected);
  std::vector<std::int64_t> out;
  for (const std::string& word : words(key)) {
    const auto value = whole_number(word);
    if (!value || *value < low || *value > high) {
      reject(key, "expected whole numbers from " + std::to_string(low) + " to " +
                      std::to_string(high) + ", got '" + word + "'");
    }
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : node_->entries) out.push_back(key);
  return out;
}

const Node& Reader::raw(std::string_view key) const {
  const Node& found = at(key, "a value");
  const auto mark = [this](const auto& self, const Node& node) -> void {
    account_->read.insert(&node);
    for (const Node& item : node.items) self(self, item);
    for (const auto& [name, value] : node.entries) self(self, value);
  };
  mark(mark, found);
  return found;
}

void Reader::finish() const { finish_node(*node_, path_); }

void Reader::finish_node(const Node& node, const std::string& path) const {
  for (const auto& [key, value] : node.entries) {
    const std::string here = path.empty() ? key : path + "." + key;
    if (!account_->read.contains(&value)) {
      std::vector<std::string> known;
      if (const auto it = account_->asked.find(&node); it != account_->asked.end()) {
        known.assign(it->second.begin(), it->second.end());
      }
      throw ConfigError(value.key_position.text() + ": " + here + ": unknown key" +
                        suggestion(key, known));
    }
    if (value.kind == Node::Kind::map && account_->asked.contains(&value)) finish_node(value, here);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const Node& item = value.items[i];
      if (item.kind == Node::Kind::map && account_->asked.contains(&item)) {
        finish_node(item, here + "[" + std::to_string(i) + "]");
      }
    }
  }
}

void Reader::fail(std::string_view key, const std::string& expected,
                  const std::string& hint) const {
  const Node* found = node_->find(key);
  const Node& where = found != nullptr ? *found : *node_;
  const std::string got = found != nullptr ? found->describe() : "nothing (the key is missing)";
  throw ConfigError(where.position.text() + ": " + dotted(key) + ": expected " + expected +
                    ", got " + got + hint);
}

void Reader::reject(std::string_view key, const std::string& sentence) const {
  const Node* found = node_->find(key);
  const Node& where = found != nullptr ? *found : *node_;
  throw ConfigError(where.position.text() + ": " + dotted(key) + ": " + sentence);
}

void Reader::reject_key(std::string_view key, const std::string& sentence) const {
  const Node* found = node_->find(key);
  const Position& where = found != nullptr ? found->key_position : node_->position;
  throw ConfigError(where.text() + ": " + dotted(key) + ": " + sentence);
}

std::string Reader::dotted(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

std::string Reader::join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string Reader::suggestion_if_near(std::string_view word,
                                       const std::vector<std::string>& names) {
  const std::string near = nearest_name(word, names);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

}  // namespace ridgeline::core
