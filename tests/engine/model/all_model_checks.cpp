#include <iterator>
#include <optional>

#include "tests/engine/model/model_checks.h"
#include "tests/support/conformance_kit.h"

namespace glmchat::test {
namespace {

constexpr const char* kGoldenCases[] = {"plain-fp16",    "plain-bf16", "long-context",      "official-int8",
                                        "official-int4", "prefix",     "prefix-projection", "prefix-merged"};

constexpr const char* kKitCases[] = {"chatglm2-tiny",
                                     "chatglm2-tiny-int8",
                                     "chatglm2-tiny-int4",
                                     "chatglm2-tiny-ptuning",
                                     "chatglm2-tiny-ptuning-projection",
                                     "chatglm2-tiny-vocab65024",
                                     "chatglm2-32k-tiny"};

void append(std::vector<Check> more, std::vector<Check>& checks) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
}

}  // namespace

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    for (const char* name : kGoldenCases)
        append(forward_checks(source_dir() / "tests" / "golden", name), checks);
    const std::optional<std::filesystem::path> kit = conformance_kit();
    for (const char* name : kKitCases) {
        if (kit)
            append(forward_checks(*kit, name), checks);
        else
            checks.push_back({name, [] { return skipped(kKitMissing); }});
    }
    append(conversion_checks(), checks);
    append(loading_checks(), checks);
    append(failure_checks(), checks);
    append(synthetic_checks(), checks);
    return checks;
}

}  // namespace glmchat::test
