#pragma once
// Reads typed values out of a Node and accounts for every key: each is read or rejected, each error
// says
//   file:line:column: dotted.key: expected X, got Y [; did you mean Z?]
// A value with a dimension must carry its unit.
//
//   Reader root(node);
//   spec.capacity = root.child("hbm").get<Bytes>("capacity");
//   root.finish();  // any key nobody asked for is an error, with the nearest key that somebody did
//   ask for

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/document.hpp"
#include "core/error.hpp"
#include "core/interval.hpp"
#include "core/quantity_text.hpp"
#include "core/units.hpp"

namespace ridgeline::core {

/// A name as it stands in YAML and what it means: the table of a closed set.
template <class E>
struct Choice {
  std::string_view name;
  E value;
};

class Reader {
 public:
  /// `path` is the dotted path of `node` in its document, "" for the root. The node must outlive
  /// the reader.
  explicit Reader(const Node& node, std::string path = "");

  [[nodiscard]] bool has(std::string_view key) const;

  /// The text of a scalar as it was written; `expected` is what an error says when there is none.
  [[nodiscard]] const std::string& scalar(std::string_view key, const std::string& expected) const;
  /// The value of a key, which must be there. T: bool, std::int64_t, double (dimensionless),
  /// std::string, Seconds, Bytes, BytesPerSecond, Flop, FlopPerSecond.
  template <class T>
  [[nodiscard]] T get(std::string_view key) const;
  /// The same, or `fallback` when the key is absent.
  template <class T>
  [[nodiscard]] T get(std::string_view key, T fallback) const {
    return has(key) ? get<T>(key) : fallback;
  }
  template <class T>
  [[nodiscard]] std::optional<T> maybe(std::string_view key) const {
    return has(key) ? std::optional<T>(get<T>(key)) : std::nullopt;
  }

  /// A number, "%" allowed, in [low, high].
  [[nodiscard]] double fraction(std::string_view key, double low = 0.0, double high = 1.0) const;
  /// A whole number in [low, high].
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t low,
                                     std::int64_t high) const;
  /// Checks a value already read: throws "expected <what>" at the key unless `holds`.
  void require(bool holds, std::string_view key, const std::string& what) const;

  /// One of a closed set of words.
  template <class E>
  [[nodiscard]] E choice(std::string_view key, const std::vector<Choice<E>>& choices) const {
    const std::string word = get<std::string>(key);
    std::vector<std::string> names;
    for (const auto& c : choices) {
      if (c.name == word) return c.value;
      names.emplace_back(c.name);
    }
    fail(key, "one of " + join(names), suggestion_if_near(word, names));
  }

  /// A typed interval ("78 %", "6-30 us"); see core/quantity_text.hpp.
  [[nodiscard]] Interval interval(std::string_view key, Dimension dimension) const;

  /// The map at a key, which must be there.
  [[nodiscard]] Reader child(std::string_view key) const;
  /// The items of a list of maps.
  [[nodiscard]] std::vector<Reader> list(std::string_view key) const;
  /// The scalars of a list, as text.
  [[nodiscard]] std::vector<std::string> words(std::string_view key) const;
  /// The whole numbers of a list, each in [low, high].
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key, std::int64_t low,
                                                   std::int64_t high) const;
  /// The keys of this map in file order, for maps whose keys are data (dtype: rate). Reading their
  /// values is the caller's.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The node at a key, everything in it counted as read.
  [[nodiscard]] const Node& raw(std::string_view key) const;

  /// Rejects every key of this map, and of the maps below it, that nobody asked for.
  void finish() const;

  /// Throws ConfigError at the key (or at this map when the key is absent): "expected <expected>,
  /// got <what is there>".
  [[noreturn]] void fail(std::string_view key, const std::string& expected,
                         const std::string& hint = "") const;
  /// Throws ConfigError at the value of a key with a sentence of its own.
  [[noreturn]] void reject(std::string_view key, const std::string& sentence) const;
  /// The same, pointing at the key: for maps whose keys are data.
  [[noreturn]] void reject_key(std::string_view key, const std::string& sentence) const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Node& node() const { return *node_; }

 private:
  struct Account {  // shared by a root and its children
    std::set<const Node*> read;
    std::map<const Node*, std::set<std::string>> asked;
  };
  Reader(const Node& node, std::string path, std::shared_ptr<Account> account);

  [[nodiscard]] const Node& at(std::string_view key, const std::string& expected) const;
  [[nodiscard]] double quantity(std::string_view key, Dimension dimension) const;
  [[nodiscard]] std::string dotted(std::string_view key) const;
  static std::string join(const std::vector<std::string>& names);
  static std::string suggestion_if_near(std::string_view word,
                                        const std::vector<std::string>& names);
  void finish_node(const Node& node, const std::string& path) const;

  const Node* node_;
  std::string path_;
  std::shared_ptr<Account> account_;
};

}  // namespace ridgeline::core
