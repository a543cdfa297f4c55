#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/loader/checkpoint.h"
#include "engine/loader/message.h"

namespace glmchat {
namespace {

/// Closes the descriptor when the mapping (which does not need it) stands or has failed.
struct Descriptor {
    int value;
    ~Descriptor() {
        if (value >= 0) ::close(value);
    }
};

tl::unexpected<Status> cannot_open(const std::string& file_name, int error) {
    if (error == ENOENT || error == ENOTDIR) {
        return refuse_file(StatusKind::kNotFound, file_name, "the file is missing",
                           "download it into the model folder");
    }
    return bad_file(file_name, "the file cannot be read (" + std::generic_category().message(error) + ")",
                    "check its permissions and the disk");
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
    const std::string file_name = display_name(path);
    // O_NONBLOCK: a named pipe in the folder must not hang the program.
    const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (descriptor.value < 0) return cannot_open(file_name, errno);
    struct stat facts {};
    if (::fstat(descriptor.value, &facts) != 0) return cannot_open(file_name, errno);
    if (!S_ISREG(facts.st_mode)) {
        return bad_file(file_name,
                        S_ISDIR(facts.st_mode) ? "this is a folder where a file is expected"
                                               : "this is not a regular file",
                        "put the downloaded file in its place");
    }
    const std::shared_ptr<MappedFile> file(new MappedFile());
    file->path_ = path;
    if (facts.st_size == 0) return file;  // nothing to map; POSIX refuses an empty mapping
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.value, 0);
    if (data == MAP_FAILED) return cannot_open(file_name, errno);
    file->data_ = static_cast<const std::byte*>(data);
    file->size_ = size;
    return file;
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::string display_name(const std::filesystem::path& path) {
    const std::filesystem::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
    const std::u8string utf8 = name.u8string();
    return printable({reinterpret_cast<const char*>(utf8.data()), utf8.size()});
}

}  // namespace glmchat
