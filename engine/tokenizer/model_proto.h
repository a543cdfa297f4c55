#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace glmchat {

/// What a serialised sentencepiece model says about itself, read before sentencepiece is trusted with it.
struct ModelProtoPiece {
    enum class Type : std::uint8_t {
        kNormal = 1,
        kUnknown = 2,
        kControl = 3,
        kUserDefined = 4,
        kUnused = 5,
        kByte = 6
    };
    std::string text;
    Type type = Type::kNormal;
};

/// Reads and checks the protobuf wire format of `model` (untrusted bytes): a BPE model of bounded size that
/// treats spaces as ChatGLM2 does and rewrites nothing; its pieces are well-formed and distinct, begin with
/// `<unk>`, `<s>`, `</s>`, hold all 256 byte pieces and one for a space, and no special token can be typed.
/// Errors: kBadFile and kUnsupported, naming `file_name`, the finding and the remedy.
Result<std::vector<ModelProtoPiece>> read_model_proto(std::string_view model, std::string_view file_name);

}  // namespace glmchat
