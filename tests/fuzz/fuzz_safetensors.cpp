#include "tests/fuzz/loader_fuzz_support.h"

#include "engine/loader/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace glmchat;
    test::check_outcome(read_safetensors(test::as_bytes(data, size), "fuzz.safetensors"), size);
    return 0;
}
