#include "tests/engine/loader/all_checks.h"

namespace glmchat::test {

std::vector<Check> all_checks() {
    std::vector<Check> all;
    for (const auto table :
         {config_checks, folder_checks, golden_checks, kit_checks, safetensors_checks, torch_checks}) {
        for (Check& check : table()) all.push_back(std::move(check));
    }
    return all;
}

}  // namespace glmchat::test
