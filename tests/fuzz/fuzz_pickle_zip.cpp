#include <array>

#include "tests/fuzz/loader_fuzz_support.h"

#include "engine/loader/pickle.h"
#include "engine/loader/state_dict.h"
#include "engine/loader/torch_file.h"

namespace glmchat::test {
namespace {

/// The input as a bare data.pkl, so that the pickle machine is reached without a zip around it. Every storage
/// the pickle asks for is there, up to 4 KiB.
void read_as_pickle(std::span<const std::byte> bytes) {
    static constexpr std::array<std::byte, 4096> kStorage{};
    const auto pickle = read_pickle(bytes, "data.pkl");
    if (!pickle) return;
    const auto find_storage = [](const PickledStorage& storage) -> Result<std::span<const std::byte>> {
        const auto size =
            checked_multiply(static_cast<std::size_t>(storage.num_elements), data_type_bytes(storage.type));
        if (!size || *size > kStorage.size()) return failure(StatusKind::kBadFile, "too large.");
        return std::span(kStorage).first(*size);
    };
    check_outcome(read_state_dict(*pickle, find_storage, "data.pkl"), kStorage.size());
}

}  // namespace
}  // namespace glmchat::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace glmchat;
    const auto file = test::as_bytes(data, size);
    test::check_outcome(read_torch_zip(file, "fuzz.bin"), size);
    test::check_outcome(read_torch_legacy(file, "fuzz.bin"), size);
    test::read_as_pickle(file);
    return 0;
}
