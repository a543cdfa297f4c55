#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/fuzz/text_fuzz_support.h"

#include "engine/tokenizer/tokenizer.h"

namespace glmchat::test {
namespace {

/// Spaces at both ends and in a row, names of special tokens, characters of every length, a NUL.
using namespace std::string_view_literals;
constexpr std::string_view kText =
    "  hello  [gMASK] sop </s> <unk> <0x0A> @\n你好 🇨🇳 e\u0301\u3000\0\x7f the end "sv;

/// A model that was accepted reads any text as ordinary pieces, and gives the same text back.
void check_text(const Tokenizer& tokenizer) {
    const std::vector<std::int32_t> ids = tokenizer.encode(kText);
    const SpecialTokens& special = tokenizer.special_tokens();
    for (const std::int32_t id : ids) {
        require(id >= 0 && id < tokenizer.num_pieces());
        require(id != special.bos && id != special.eos && !tokenizer.piece(id).empty());
    }
    require(tokenizer.decode(ids) == kText);
    require(tokenizer.decode_bytes(ids) == kText);
}

void check_model(std::string_view model) {
    const auto tokenizer = Tokenizer::from_bytes(model, "tokenizer.model");
    if (tokenizer) {
        check_text(**tokenizer);
    } else {
        require(tokenizer.error().message.ends_with('.') && tokenizer.error().message.size() < 1000);
    }
}

}  // namespace
}  // namespace glmchat::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace glmchat::test;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_model(bytes);
    // Protobuf messages merge when they are laid end to end: here the input changes a model that is complete.
    check_model(golden_model() + std::string(bytes));
    return 0;
}
