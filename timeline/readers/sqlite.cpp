#include "timeline/readers/sqlite.hpp"

#include <sqlite3.h>

#include <fstream>
#include <system_error>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};

}  // namespace

bool is_sqlite_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::string head(kMagic.size(), ' ');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return in.good() && head == kMagic;
}

bool is_sqlite(const RecordingFile& file) {
  return file.text.starts_with(kMagic) || is_sqlite_file(file.path);
}

void SqliteDatabase::Close::operator()(sqlite3* db) const { sqlite3_close(db); }
void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteDatabase::SqliteDatabase(const RecordingFile& file) : name_(file.name) {
  const bool on_disk = is_sqlite_file(file.path);
  sqlite3* db = nullptr;
  const int opened =
      sqlite3_open_v2(on_disk ? file.path.c_str() : ":memory:", &db,
                      on_disk ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, nullptr);
  db_.reset(db);  // even one that failed to open must be closed
  if (opened != SQLITE_OK) fail();
  if (!on_disk) {
    // Marked read-only, so SQLite does not write into our text.
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(file.text.data()));
    const auto size = static_cast<sqlite3_int64>(file.text.size());
    if (sqlite3_deserialize(db, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY) !=
        SQLITE_OK)
      fail();
  }
  // The file's views are somebody else's code: they get no functions with effects.
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

bool SqliteDatabase::has(std::string_view table) const {
  SqliteRows found =
      rows("SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?1");
  return found.bind(1, table).next();
}

SqliteRows SqliteDatabase::rows(std::string_view query) const { return {*this, query}; }

void SqliteDatabase::fail() const {
  throw core::ConfigError(name_ + ": the database cannot be read: " +
                          (db_ ? sqlite3_errmsg(db_.get()) : "out of memory"));
}

SqliteRows::SqliteRows(const SqliteDatabase& database, std::string_view query)
    : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(database.db_.get(), query.data(),
                                          static_cast<int>(query.size()), &statement, nullptr);
  statement_.reset(statement);
  if (prepared != SQLITE_OK) database.fail();
}

SqliteRows& SqliteRows::bind(int parameter, std::string_view text) {
  if (sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT) != SQLITE_OK) {
    database_->fail();
  }
  return *this;
}

bool SqliteRows::next() {
  const int stepped = sqlite3_step(statement_.get());
  if (stepped != SQLITE_ROW && stepped != SQLITE_DONE) database_->fail();
  return stepped == SQLITE_ROW;
}

std::int64_t SqliteRows::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double SqliteRows::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
bool SqliteRows::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view SqliteRows::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace ridgeline::timeline
