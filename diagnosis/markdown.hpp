#pragma once
// Words within GitHub's markdown: what a sentence holds by chance must not become a heading, an
// emphasis, a column of a table or a link to somebody.

#include <string>
#include <string_view>

namespace ridgeline::diagnosis::markdown {

/// Text that shows as it stands, anywhere but within a code span. On one line.
[[nodiscard]] std::string escaped(std::string_view text);
/// A code span; for names, paths and bars. Good within a table too.
[[nodiscard]] std::string code(std::string_view text);

}  // namespace ridgeline::diagnosis::markdown
