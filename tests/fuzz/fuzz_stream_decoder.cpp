#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/text_fuzz_support.h"

#include "engine/prompt/response_text.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/utf8.h"

namespace glmchat::test {
namespace {

/// Two bytes of input choose an id: of the vocabulary, a little outside it on both sides, or far outside.
std::int32_t chosen_id(std::uint32_t choice, std::int32_t vocabulary_size) {
    constexpr std::int32_t kMargin = 20;
    if (choice == 0xFFFF) return std::numeric_limits<std::int32_t>::max();
    if (choice == 0xFFFE) return std::numeric_limits<std::int32_t>::min();
    return static_cast<std::int32_t>(choice) % (vocabulary_size + 2 * kMargin) - kMargin;
}

std::vector<std::int32_t> chosen_ids(const std::uint8_t* data, std::size_t size,
                                     std::int32_t vocabulary_size) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i + 1 < size; i += 2) {
        ids.push_back(chosen_id(data[i] | static_cast<std::uint32_t>(data[i + 1]) << 8, vocabulary_size));
    }
    return ids;
}

bool is_valid(const std::string& text) {
    return to_valid_utf8(text) == text;
}

/// No call returns half a character, what was returned stays, and only an unfinished character is held back.
void check_stream(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
    const auto decoder = tokenizer.make_stream_decoder();
    std::string text;
    for (const std::int32_t id : ids) {
        const std::string more = decoder->push(id);
        require(is_valid(more));
        text += more;
    }
    const std::string rest = decoder->finish();
    require(rest.size() <= 3 * kReplacementCharacter.size());
    for (std::size_t at = 0; at < rest.size(); at += kReplacementCharacter.size()) {
        require(rest.compare(at, kReplacementCharacter.size(), kReplacementCharacter) == 0);
    }
    require(text + rest == tokenizer.decode(ids));
}

/// Any bytes can be asked: they become ordinary pieces that say the same, with a space for a typed U+2581.
void check_any_text(const Tokenizer& tokenizer, std::string_view bytes) {
    std::string expected = to_valid_utf8(bytes);
    replace_text(expected, {kSpaceSymbol, " "});
    const std::vector<std::int32_t> ids = tokenizer.encode(bytes);
    for (const std::int32_t id : ids) {
        require(id > tokenizer.special_tokens().eos && id < tokenizer.num_pieces());
    }
    require(tokenizer.decode(ids) == expected);
}

}  // namespace
}  // namespace glmchat::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace glmchat;
    static const std::shared_ptr<const Tokenizer> tokenizer =
        Tokenizer::from_bytes(test::golden_model(), "tokenizer.model").value();
    const std::vector<std::int32_t> ids = test::chosen_ids(data, size, tokenizer->vocabulary_size());
    test::check_stream(*tokenizer, ids);
    test::check_any_text(*tokenizer, {reinterpret_cast<const char*>(data), size});
    return 0;
}
