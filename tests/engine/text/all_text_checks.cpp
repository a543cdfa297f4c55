#include <initializer_list>

#include "tests/engine/text/text_checks.h"

namespace glmchat::test {

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    for (const auto part : {kit_text_checks, golden_text_checks, tokenizer_file_checks, format_checks}) {
        for (Check& check : part()) checks.push_back(std::move(check));
    }
    return checks;
}

}  // namespace glmchat::test
