#pragma once
// Rows of plain data as Python reads them: in place. A buffer of bytes, and where in a row each
// field stands, in NumPy's terms; whoever holds the buffer keeps the rows alive.

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ridgeline::bindings {

struct Field {
  std::string name;
  std::string format;  // NumPy's: "<i8"
  std::size_t offset = 0;
};

class Records {
 public:
  /// `rows` belong to `owner`, which nobody changes any more.
  template <class Row>
  Records(std::shared_ptr<const void> owner, const std::vector<Row>& rows,
          std::vector<Field> fields)
      : owner_(std::move(owner)),
        data_(rows.data()),
        count_(rows.size()),
        row_bytes_(sizeof(Row)),
        fields_(std::move(fields)) {
    static_assert(std::is_trivially_copyable_v<Row> && std::is_standard_layout_v<Row>);
  }

  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  std::shared_ptr<const void> owner_;
  const void* data_;
  std::size_t count_;
  std::size_t row_bytes_;
  std::vector<Field> fields_;
};

}  // namespace ridgeline::bindings
