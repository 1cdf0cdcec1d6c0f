#include "timeline/readers/file_mapping.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

namespace ridgeline::timeline {

FileMapping::FileMapping(int file) {
  struct stat about {};
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    const auto size = static_cast<std::size_t>(about.st_size);
    void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) bytes_ = {static_cast<const char*>(bytes), size};
  }
}

FileMapping::~FileMapping() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace ridgeline::timeline
