// Lines that are known to say nothing: rules between parts, fences of code blocks, access logs,
// progress bars.

#include <array>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr std::array<std::string_view, 14> kMarkers{"----",
                                                    "====",
                                                    "****",
                                                    "| --",
                                                    "|---",
                                                    "+---",
                                                    "```",
                                                    "/s]",
                                                    "s/it]",
                                                    "it/s",
                                                    "HTTP/1.1\" ",
                                                    "HTTP/1.0\" ",
                                                    "checkpoint shards",
                                                    "<details>"};

class Reader final : public LineReader {
 public:
  bool read(const Line& line, Findings& /*out*/) override {
    const std::string_view body = line.body;
    if (contains(body, "HTTP/1.1\" ") || contains(body, "HTTP/1.0\" ")) return true;
    if (body.starts_with("```") || body.starts_with("<details>")) return true;
    if (contains(body, "%|") || contains(body, "it/s]") || contains(body, "s/it]") ||
        contains(body, "?it/s"))
      return true;
    // A rule, perhaps with a title in it.
    const auto is_rule = [](std::string_view end) {
      return end.find_first_not_of("-=*+|: ") == std::string_view::npos;
    };
    constexpr std::size_t kEnd = 4;
    return body.size() >= kEnd && is_rule(body.substr(0, kEnd)) &&
           is_rule(body.substr(body.size() - kEnd));
  }
};

}  // namespace

extern const PastedFormat kFiller{"filler",
                                  "rules, fences, access logs and progress bars, which say nothing",
                                  kMarkers, make_reader<Reader>};

}  // namespace ridgeline::diagnosis::pasted
