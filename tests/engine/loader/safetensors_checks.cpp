#include "tests/engine/loader/all_checks.h"
#include "tests/engine/loader/loader_test_support.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

using enum StatusKind;

struct BadFile {
    const char* name;
    std::string content;
    StatusKind kind;
    const char* finding;
};

std::string with_entry(std::string_view entry, std::string_view data = "12345678") {
    return safetensors_file(fmt::format(R"({{"a":{}}})", entry), data);
}

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

std::string two_tensors(std::string_view first, std::string_view second, std::string_view data) {
    return safetensors_file(fmt::format(R"({{"a":{},"b":{}}})", first, second), data);
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

std::vector<BadFile> bad_files() {
    return {
        {"empty", "", kBadFile, "the file is empty"},
        {"seven_bytes", "1234567", kBadFile, "cut short"},
        {"header_of_4_gigabytes", little_endian(0xFFFFFFFF, 8) + "{}", kBadFile,
         "its header should have 4294967295 bytes"},
        {"header_of_2_to_the_63", little_endian(1ULL << 63U, 8) + "{}", kBadFile, "cut short or damaged"},
        {"header_past_the_cap", safetensors_file("{" + std::string(5U << 20U, ' ') + "}", ""), kBadFile,
         "more than the"},
        {"header_not_json", safetensors_file("{not json", ""), kBadFile, "not valid JSON"},
        {"header_not_utf8", safetensors_file("{\"\xFF\":1}", ""), kBadFile, "not valid JSON"},
        {"header_array", safetensors_file("[{}]", ""), kBadFile, "not an object"},
        {"header_nested", with_entry(nested(100)), kBadFile, "nested too deeply"},
        {"header_nested_very_deep", with_entry(nested(1000000)), kBadFile, "nested too deeply"},
        {"header_with_zero_byte", safetensors_file(std::string("{\0}", 3), ""), kBadFile, "not valid JSON"},
        {"entry_not_object", with_entry("5"), kBadFile, "tensor \"a\" has no description"},
        {"dtype_missing", with_entry(R"({"shape":[8],"data_offsets":[0,8]})"), kBadFile,
         "tensor \"a\" has no dtype"},
        {"dtype_unknown", with_entry(entry("F8_E4M3", "[8]", "[0,8]")), kUnsupported,
         "unknown dtype \"F8_E4M3\""},
        {"dtype_wrong", with_entry(entry("F32", "[8]", "[0,8]")), kBadFile,
         "does not match its stored bytes"},
        {"shape_missing", with_entry(R"({"dtype":"U8","data_offsets":[0,8]})"), kBadFile, "impossible shape"},
        {"shape_negative", with_entry(entry("U8", "[-8]", "[0,8]")), kBadFile, "impossible shape"},
        {"shape_fraction", with_entry(entry("U8", "[8.0]", "[0,8]")), kBadFile, "impossible shape"},
        {"shape_text", with_entry(entry("U8", "\"8\"", "[0,8]")), kBadFile, "impossible shape"},
        {"shape_wrong", with_entry(entry("U8", "[7]", "[0,8]")), kBadFile, "does not match its stored bytes"},
        {"shape_overflows", with_entry(entry("F64", "[4294967296,4294967297]", "[0,8]")), kBadFile,
         "impossible shape"},
        {"shape_overflows_beside_zero", with_entry(entry("F64", "[4294967296,4294967297,0]", "[0,0]")),
         kBadFile, "impossible shape"},
        {"shape_2_to_the_64", with_entry(entry("U8", "[18446744073709551616]", "[0,8]")), kBadFile,
         "impossible shape"},
        {"shape_17_dimensions", with_entry(entry("U8", "[8,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,8]")),
         kBadFile, "too many dimensions"},
        {"offsets_missing", with_entry(R"({"dtype":"U8","shape":[8]})"), kBadFile, "data_offsets"},
        {"offsets_three", with_entry(entry("U8", "[8]", "[0,8,8]")), kBadFile, "data_offsets"},
        {"offsets_negative", with_entry(entry("U8", "[8]", "[-8,0]")), kBadFile, "data_offsets"},
        {"offsets_reversed", with_entry(entry("U8", "[8]", "[8,0]")), kBadFile, "lies outside the file"},
        {"offsets_past_end", with_entry(entry("U8", "[9]", "[0,9]")), kBadFile, "lies outside the file"},
        {"offsets_huge", with_entry(entry("U8", "[8]", "[9223372036854775800,9223372036854775807]")),
         kBadFile, "lies outside the file"},
        {"overlap", two_tensors(entry("U8", "[4]", "[0,4]"), entry("U8", "[4]", "[2,6]"), "123456"), kBadFile,
         "overlaps its neighbour"},
        {"same_place", two_tensors(entry("U8", "[4]", "[0,4]"), entry("U8", "[4]", "[0,4]"), "1234"),
         kBadFile, "overlaps its neighbour"},
        {"hole", two_tensors(entry("U8", "[4]", "[0,4]"), entry("U8", "[4]", "[5,9]"), "123456789"), kBadFile,
         "leaves a hole"},
        {"bytes_left", with_entry(entry("U8", "[4]", "[0,4]")), kBadFile, "bytes after the last tensor"},
        {"name_twice",
         safetensors_file(fmt::format(R"({{"a":{0},"a":{0}}})", entry("U8", "[8]", "[0,8]")), "12345678"),
         kBadFile, "names \"a\" twice"},
    };
}

CheckResult check_bad(const BadFile& bad) {
    const TempFolder folder;
    const auto path = folder.write("权重 一.safetensors", bad.content);
    return expect_refused(Checkpoint::open_file(path), bad.kind, "权重 一.safetensors", bad.finding);
}

/// A tensor's name is shown cut and without control characters, whatever the file says.
CheckResult check_long_name() {
    const TempFolder folder;
    const std::string header = fmt::format(R"({{"{}\u0007{}":5}})", "坏", std::string(100000, 'x'));
    const auto path = folder.write("a.safetensors", safetensors_file(header, ""));
    const auto result = Checkpoint::open_file(path);
    if (result) return failed("was accepted");
    if (result.error().message.size() > 300 || result.error().message.find('\a') != std::string::npos) {
        return failed(result.error().message);
    }
    return expect_refusal(result.error(), kBadFile, "a.safetensors", "tensor \"坏?xxx");
}

/// Legal, if rare: no tensors at all, an empty tensor between others, a header that is not padded, metadata.
CheckResult check_legal_oddities() {
    const TempFolder folder;
    const auto none = Checkpoint::open_file(folder.write("none.safetensors", safetensors_file("{}", "")));
    if (!none || !none->tensors().empty()) return failed("a file without tensors");
    const std::string header = fmt::format(R"({{"__metadata__":{{"format":"pt"}},"c":{},"b":{},"a":{}}})",
                                           entry("U8", "[1]", "[0,1]"), entry("F32", "[3,0]", "[1,1]"),
                                           entry("I16", "[1,2]", "[1,5]"));
    const auto odd = Checkpoint::open_file(
        folder.write("odd.safetensors", safetensors_file(header, "\x01\x02\x03\x04\x05")));
    if (!odd) return failed(odd.error().message);
    std::string order;
    for (const TensorInfo& info : odd->tensors()) order += info.name;
    if (order != "cba" || odd->total_bytes() != 5) return failed("order " + order);
    const auto tensor = odd->tensor("a");
    return tensor && hex(tensor->bytes) == "02030405" ? passed() : failed("tensor a");
}

}  // namespace

std::vector<Check> safetensors_checks() {
    std::vector<Check> checks{{"safetensors/long_name", check_long_name},
                              {"safetensors/legal_oddities", check_legal_oddities}};
    for (BadFile& bad : bad_files()) {
        checks.push_back({fmt::format("safetensors/refuses/{}", bad.name),
                          [bad = std::move(bad)] { return check_bad(bad); }});
    }
    return checks;
}

}  // namespace glmchat::test
