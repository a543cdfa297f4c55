#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace glmchat::test {

/// What must hold for every input; a fuzzer stops at the input for which it does not.
inline void require(bool condition) {
    if (!condition) std::abort();
}

/// The repository's own small vocabulary, as bytes.
inline const std::string& golden_model() {
    static const std::string model = [] {
        std::ifstream file(GLMCHAT_GOLDEN_TOKENIZER, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }();
    return model;
}

}  // namespace glmchat::test
