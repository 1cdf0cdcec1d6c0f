#pragma once
// SQLite for the readers of RPD and rocpd: a database opened to be read, and statements that step
// through rows. Whatever is wrong with the file is the user's to know: ConfigError, with the file's
// name and SQLite's words.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "timeline/readers/formats.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ridgeline::timeline {

/// Whether the file, or its text where it has been read, begins as SQLite's files do.
[[nodiscard]] bool is_sqlite(const RecordingFile& file);
/// Whether a file on disk is: SQLite reads it there, it need not fit into memory. A pipe is not
/// touched.
[[nodiscard]] bool is_sqlite_file(const std::filesystem::path& path);

class SqliteRows;

class SqliteDatabase {
 public:
  /// Opens the file itself where there is one, else its text (of a compressed file, or from
  /// standard input), which must outlive this.
  explicit SqliteDatabase(const RecordingFile& file);

  /// Whether there is a table or view of this name.
  [[nodiscard]] bool has(std::string_view table) const;
  [[nodiscard]] SqliteRows rows(std::string_view query) const;

 private:
  friend class SqliteRows;
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::string name_;
  std::unique_ptr<sqlite3, Close> db_;
};

/// The rows of one query. The database must outlive it.
class SqliteRows {
 public:
  SqliteRows(const SqliteDatabase& database, std::string_view query);

  SqliteRows& bind(int parameter, std::string_view text);
  /// Moves to the next row; false at the end.
  [[nodiscard]] bool next();

  // Columns of the row, counted from 0; text lives until the next row. NULL is 0 and "".
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const SqliteDatabase* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace ridgeline::timeline
