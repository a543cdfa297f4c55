#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace glmchat {

enum class DataType : std::uint8_t { kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt16, kInt8, kUInt8, kBool };

std::string_view data_type_name(DataType type);  ///< "float16", …
std::size_t data_type_bytes(DataType type);

struct TensorInfo {
    std::string name;
    DataType type = DataType::kFloat32;
    std::vector<std::int64_t> shape;
    std::string file_name;  ///< shard the bytes lie in, for messages

    std::int64_t num_elements() const;
};

/// A tensor's bytes, contiguous, row-major and aligned to the element size. `owner` keeps them alive: usually the mapped
/// file, a private copy for tensors stored with strides or unaligned. Outlives the Checkpoint.
struct HostTensor {
    TensorInfo info;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};

/// The weights of one model folder (or one file), as downloaded: sharded zip `.bin` with index, single `.bin`, legacy
/// non-zip `.bin`, single or sharded `.safetensors` with index. Files are memory-mapped and read on demand, nothing is read
/// twice, nothing in a file is executed. Every file is untrusted: all offsets, sizes and shapes are checked before use.
/// Immutable after opening; any thread may call tensor().
class Checkpoint {
  public:
    /// Opens all weight files of a model folder. A missing shard, a Git-LFS pointer, a GGUF/GGML file, a truncated or
    /// malformed file gives a Status that names file, finding and remedy. safetensors is preferred when both are complete.
    static Result<Checkpoint> open_folder(const std::filesystem::path& folder);
    /// Opens one weight file, whatever its format.
    static Result<Checkpoint> open_file(const std::filesystem::path& file);

    Checkpoint(Checkpoint&&) noexcept;
    Checkpoint& operator=(Checkpoint&&) noexcept;
    ~Checkpoint();

    const std::vector<TensorInfo>& tensors() const;  ///< in file order
    const TensorInfo* find(std::string_view name) const;  ///< null when absent
    Result<HostTensor> tensor(std::string_view name) const;
    std::string format() const;                   ///< "safetensors", "bin (zip)", "bin (legacy)"
    std::size_t total_bytes() const;              ///< of the tensors' data

    struct Impl;

  private:
    explicit Checkpoint(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// A whole file mapped read-only. Paths may hold any characters.
/// Errors: kNotFound, kBadFile (not a regular file, unreadable).
class MappedFile {
  public:
    static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
    const std::filesystem::path& path() const { return path_; }

  private:
    MappedFile() = default;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::filesystem::path path_;
};

/// UTF-8 name of a path for messages (file name only).
std::string display_name(const std::filesystem::path& path);

}  // namespace glmchat
