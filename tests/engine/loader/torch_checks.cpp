#include "tests/engine/loader/all_checks.h"
#include "tests/engine/loader/loader_test_support.h"
#include <fmt/format.h>

// Pickles are written here opcode by opcode, so that each can be wrong in one place.

namespace glmchat::test {
namespace {

using enum StatusKind;
using namespace std::string_literals;

std::string text(std::string_view value) {
    return "X" + little_endian(value.size(), 4) + std::string(value);
}
std::string name(std::string_view module, std::string_view what) {
    return fmt::format("c{}\n{}\n", module, what);
}
std::string whole(std::int32_t number) {
    return "J" + little_endian(static_cast<std::uint32_t>(number), 4);
}
std::string whole64(std::int64_t number) {
    return "\x8a\x08"s + little_endian(static_cast<std::uint64_t>(number), 8);
}
std::string pickle(std::string_view opcodes) {
    return "\x80\x02"s.append(opcodes) + ".";
}

/// A float32 tensor [2] over storage "0" of two elements; a test changes one part.
struct TensorParts {
    std::string type = name("torch", "FloatStorage");
    std::string key = text("0");
    std::string num_elements = whole(2);
    std::string offset = whole(0);
    std::string shape = whole(2) + "\x85";
    std::string strides = whole(1) + "\x85";
    std::string view = {};  ///< sixth item of the storage id

    std::string opcodes() const {
        return name("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") + type + key +
               text("cpu") + num_elements + view + "tQ" + offset + shape + strides + "\x89" +
               name("collections", "OrderedDict") + ")RtR";
    }
};

std::string dict_with(std::string_view value) {
    return "}" + text("w") + std::string(value) + "s";
}

/// A zip whose pickle is `pickle_bytes`, with storage "0" = 1.0, 2.0.
std::string torch_zip(std::string pickle_bytes) {
    return zip_file({{"a/data.pkl", std::move(pickle_bytes)},
                     {"a/data/0", "\0\0\x80\x3f\0\0\0\x40"s},
                     {"a/version", "3\n"}});
}
std::string torch_zip(const TensorParts& parts) {
    return torch_zip(pickle(dict_with(parts.opcodes())));
}

struct BadFile {
    const char* name;
    std::string content;
    StatusKind kind;
    const char* finding;
};

std::vector<BadFile> bad_pickles() {
    const std::string tensor = TensorParts{}.opcodes();
    return {
        {"calls_system", torch_zip(pickle(name("posix", "system") + "(" + text("echo hello") + "tR")),
         kBadFile, "asks for \"posix.system\""},
        {"calls_eval", torch_zip(pickle(name("__builtin__", "eval") + "(tR")), kBadFile,
         "asks for \"__builtin__.eval\""},
        {"torch_load", torch_zip(pickle(name("torch", "load") + "(tR")), kBadFile, "asks for \"torch.load\""},
        {"name_from_stack", torch_zip("\x80\x04" + text("os") + text("system") + "\x93."), kBadFile,
         "asks for \"os.system\""},
        {"name_from_numbers", torch_zip("\x80\x04K\1K\2\x93."s), kBadFile, "a name that is no text"},
        {"opcode_inst", torch_zip(pickle("(iposix\nsystem\n")), kBadFile, "opcode 0x69"},
        {"opcode_obj", torch_zip(pickle("(" + name("collections", "OrderedDict") + "o")), kBadFile,
         "opcode 0x6f"},
        {"opcode_newobj", torch_zip(pickle(name("collections", "OrderedDict") + ")\x81")), kBadFile,
         "opcode 0x81"},
        {"opcode_ext", torch_zip(pickle("\x82\x01")), kBadFile, "opcode 0x82"},
        {"protocol_9", torch_zip("\x80\x09}."), kBadFile, "protocol newer"},
        {"calls_storage_type", torch_zip(pickle(name("torch", "FloatStorage") + ")R")), kBadFile,
         "calls a storage type"},
        {"calls_a_number", torch_zip(pickle("K\1)R")), kBadFile, "calls something that is no function"},
        {"ordered_dict_with_arguments", torch_zip(pickle(name("collections", "OrderedDict") + "]\x85R")),
         kBadFile, "in a way no state dict needs"},
        {"state_of_a_call", torch_zip(pickle(tensor + "}b")), kBadFile, "no list or dictionary"},
        {"list_in_itself", torch_zip(pickle("]q\0h\0a"s)), kBadFile, "no dictionary of tensors"},
        {"dict_in_itself", torch_zip(pickle("}q\0"s + text("w") + "h\0s"s)), kBadFile,
         "entry \"w\" is not a tensor"},
        {"tuples_in_tuples", torch_zip(pickle(")" + std::string(300000, '\x85'))), kBadFile,
         "no dictionary of tensors"},
        {"too_many_values", torch_zip(pickle(std::string(600000, ')'))), kBadFile, "too many values"},
        {"too_many_marks", torch_zip(pickle(std::string(600000, '('))), kBadFile, "too many values"},
        {"too_long", torch_zip(pickle(std::string(9U << 20U, 'N') + std::string(9U << 20U, 'N'))), kBadFile,
         "too many values"},
        {"string_of_4_gigabytes", torch_zip("\x80\x02X\xff\xff\xff\xff."s), kBadFile, "cut short"},
        {"name_without_end",
         torch_zip("\x80\x02"
                   "cposix"),
         kBadFile, "cut short"},
        {"no_stop", torch_zip("\x80\x02}"), kBadFile, "cut short"},
        {"empty_pickle", torch_zip(""s), kBadFile, "cut short"},
        {"two_values", torch_zip(pickle("}}")), kBadFile, "does not end in one value"},
        {"no_value", torch_zip(pickle("")), kBadFile, "does not end in one value"},
        {"mark_left", torch_zip(pickle("}(")), kBadFile, "does not end in one value"},
        {"stack_underflow", torch_zip(pickle("K\1\x86")), kBadFile, "more values than it has"},
        {"stack_below_mark", torch_zip(pickle("K\1(\x85")), kBadFile, "more values than it has"},
        {"mark_missing", torch_zip(pickle("K\1t")), kBadFile, "a mark it has not set"},
        {"memo_missing", torch_zip(pickle("h\7")), kBadFile, "a value it has not kept"},
        {"memo_of_nothing", torch_zip(pickle("q\7")), kBadFile, "keeps a value it does not have"},
        {"memo_4_billion", torch_zip(pickle("}r\xff\xff\xff\xff")), kBadFile, "keeps too many values"},
        {"key_without_value", torch_zip(pickle("}(K\1u")), kBadFile, "key without a value"},
        {"append_to_dict", torch_zip(pickle("}K\1a")), kBadFile, "no list or dictionary"},
        {"root_is_a_tensor", torch_zip(pickle(tensor)), kBadFile, "no dictionary of tensors"},
        {"tensor_without_name", torch_zip(pickle("}K\1" + tensor + "s")), kBadFile,
         "a tensor without a name"},
        {"entry_is_a_number", torch_zip(pickle(dict_with("K\1"))), kBadFile, "entry \"w\" is not a tensor"},
        {"entry_is_a_dict", torch_zip(pickle(dict_with(dict_with(tensor)))), kBadFile,
         "entry \"w\" is not a tensor"},
        {"parameter_of_nothing",
         torch_zip(pickle(dict_with(name("torch._utils", "_rebuild_parameter") + ")R"))), kBadFile,
         "entry \"w\" is not a tensor"},
        {"parameter_of_parameter",
         torch_zip(pickle(dict_with(name("torch._utils", "_rebuild_parameter") +
                                    name("torch._utils", "_rebuild_parameter") + tensor + "\x85R\x85R"))),
         kBadFile, "entry \"w\" is not a tensor"},
        {"tensor_name_twice", torch_zip(pickle("}(" + text("w") + tensor + text("w") + tensor + "u")),
         kBadFile, "tensor \"w\" is stored a second time"},
        {"tensor_name_endless", torch_zip(pickle("}" + text(std::string(100000, 'w')) + tensor + "s")),
         kBadFile, "is no well-formed tensor"},
    };
}

std::vector<BadFile> bad_tensors() {
    return {
        {"type_is_a_function", torch_zip(TensorParts{.type = name("torch._utils", "_rebuild_parameter")}),
         kBadFile, "no well-formed tensor"},
        {"type_unknown", torch_zip(TensorParts{.type = name("torch", "QInt8Storage")}), kBadFile,
         "asks for \"torch.QInt8Storage\""},
        {"type_wrong", torch_zip(TensorParts{.type = name("torch", "DoubleStorage")}), kBadFile,
         "storage \"0\" has the wrong size"},
        {"storage_missing", torch_zip(TensorParts{.key = text("7")}), kBadFile, "storage \"7\" is missing"},
        {"storage_outside", torch_zip(TensorParts{.key = text("../version")}), kBadFile,
         "storage \"../version\" is missing"},
        {"storage_larger", torch_zip(TensorParts{.num_elements = whole(3)}), kBadFile,
         "storage \"0\" has the wrong size"},
        {"storage_negative", torch_zip(TensorParts{.num_elements = whole(-1)}), kBadFile,
         "no well-formed tensor"},
        {"storage_overflows", torch_zip(TensorParts{.num_elements = whole64((1LL << 62) + 2)}), kBadFile,
         "storage \"0\" has the wrong size"},
        {"storage_size_beyond_64_bits",
         torch_zip(TensorParts{.num_elements = "\x8a\x0a"s + std::string(10, '\1')}), kBadFile,
         "no well-formed tensor"},
        {"storage_part", torch_zip(TensorParts{.view = ")"}), kBadFile, "no well-formed tensor"},
        {"offset_negative", torch_zip(TensorParts{.offset = whole(-1)}), kBadFile, "impossible strides"},
        {"offset_past_end", torch_zip(TensorParts{.offset = whole(1)}), kBadFile, "reaches past the data"},
        {"offset_huge", torch_zip(TensorParts{.offset = whole64(INT64_MAX)}), kBadFile,
         "reaches past the data"},
        {"shape_negative", torch_zip(TensorParts{.shape = whole(-2) + "\x85"}), kBadFile, "impossible shape"},
        {"shape_larger", torch_zip(TensorParts{.shape = whole(3) + "\x85"}), kBadFile,
         "larger than the data"},
        {"shape_overflows",
         torch_zip(TensorParts{.shape = whole64(1LL << 62) + whole64(4) + "\x86",
                               .strides = whole(1) + whole(1) + "\x86"}),
         kBadFile, "impossible shape"},
        {"shape_of_texts", torch_zip(TensorParts{.shape = text("2") + "\x85"}), kBadFile,
         "no well-formed tensor"},
        {"shape_17_dimensions", torch_zip(TensorParts{.shape = "(" + std::string(17, '\x88') + "t"}),
         kBadFile, "no well-formed tensor"},
        {"strides_negative", torch_zip(TensorParts{.strides = whole(-1) + "\x85"}), kBadFile,
         "impossible strides"},
        {"strides_past_end", torch_zip(TensorParts{.strides = whole(2) + "\x85"}), kBadFile,
         "reaches past the data"},
        {"strides_overflow", torch_zip(TensorParts{.strides = whole64(INT64_MAX) + "\x85"}), kBadFile,
         "reaches past the data"},
        {"strides_too_few", torch_zip(TensorParts{.strides = ")"}), kBadFile, "impossible strides"},
        // A petabyte of the same element: must be refused, not made.
        {"strides_zero",
         torch_zip(TensorParts{.shape = whole64(1LL << 48) + "\x85", .strides = whole(0) + "\x85"}), kBadFile,
         "larger than the data"},
    };
}

/// `file` with bytes at the end of the first occurrence of `mark` replaced.
std::string patched(std::string file, std::string_view mark, std::size_t offset, std::string_view bytes) {
    return file.replace(file.find(mark) + offset, bytes.size(), bytes);
}

std::vector<BadFile> bad_archives() {
    const std::string good = torch_zip(TensorParts{});
    const std::string entry = "PK\x01\x02";
    const std::string end = "PK\x05\x06";
    const std::string good_pickle = pickle(dict_with(TensorParts{}.opcodes()));
    return {
        {"text_that_begins_like_a_zip", "PK is no archive", kBadFile, "zip end record is missing"},
        {"compressed_entry", patched(good, entry, 10, "\x08"), kUnsupported, "compressed or encrypted"},
        {"encrypted_entry", patched(good, entry, 8, "\x01"), kUnsupported, "compressed or encrypted"},
        {"bomb_sizes", patched(good, entry, 24, "\xff\xff\xff\x7f"), kUnsupported, "compressed or encrypted"},
        {"entry_past_end", patched(good, entry, 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f"), kBadFile,
         "is not where it should be"},
        {"entry_outside", patched(good, entry, 42, "\xff\xff\xff\x7f"), kBadFile,
         "is not where it should be"},
        {"sizes_in_missing_field", patched(good, entry, 20, "\xff\xff\xff\xff\xff\xff\xff\xff"), kBadFile,
         "zip directory is damaged"},
        {"directory_past_end", patched(good, end, 16, "\xff\xff\xff\x7f"), kBadFile,
         "zip directory is not where it should be"},
        {"more_entries_than_there_are", patched(good, end, 10, "\xff\xff"), kBadFile,
         "zip directory is damaged"},
        {"bytes_missing_in_the_middle", std::string(good).erase(40, 4), kBadFile, "zip directory is damaged"},
        {"no_pickle", zip_file({{"a/data/0", "12345678"}}), kBadFile, "not written by torch.save"},
        {"two_pickles", zip_file({{"a/data.pkl", good_pickle}, {"b/data.pkl", good_pickle}}), kBadFile,
         "not written by torch.save"},
        {"entry_twice", zip_file({{"a/data.pkl", good_pickle}, {"a/data.pkl", good_pickle}}), kBadFile,
         "names \"a/data.pkl\" twice"},
        {"big_endian",
         zip_file({{"a/data.pkl", good_pickle}, {"a/data/0", "12345678"}, {"a/byteorder", "big"}}),
         kUnsupported, "big-endian"},
    };
}

/// A legacy file of five pickles and one storage.
struct LegacyParts {
    std::string magic = pickle("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");
    std::string protocol = pickle("M\xe9\x03");
    std::string facts = pickle("}" + text("little_endian") + "\x88s");
    std::string state_dict = pickle(dict_with(TensorParts{.view = "N"}.opcodes()));
    std::string keys = pickle("]" + text("0") + "a");
    std::string storages = little_endian(2, 8) + "\0\0\x80\x3f\0\0\0\x40"s;

    std::string content() const { return magic + protocol + facts + state_dict + keys + storages; }
};

std::vector<BadFile> bad_legacy_files() {
    return {
        {"only_a_pickle", pickle("}"), kBadFile, "torch.save did not write it"},
        {"wrong_magic", LegacyParts{.magic = pickle("K\1")}.content(), kBadFile,
         "torch.save did not write it"},
        {"wrong_protocol", LegacyParts{.protocol = pickle("K\1")}.content(), kBadFile,
         "protocol is not 1001"},
        {"big_endian", LegacyParts{.facts = pickle("}" + text("little_endian") + "\x89s")}.content(),
         kUnsupported, "big-endian"},
        {"evil_facts", LegacyParts{.facts = pickle(name("os", "getcwd") + ")R")}.content(), kBadFile,
         "asks for \"os.getcwd\""},
        {"evil_keys", LegacyParts{.keys = pickle(name("os", "getcwd") + ")R")}.content(), kBadFile,
         "asks for \"os.getcwd\""},
        {"keys_no_list", LegacyParts{.keys = pickle("}")}.content(), kBadFile, "list of storages is missing"},
        {"keys_empty", LegacyParts{.keys = pickle("]")}.content(), kBadFile, "storage \"0\" is missing"},
        {"keys_unknown", LegacyParts{.keys = pickle("]" + text("1") + "a")}.content(), kBadFile,
         "no tensor uses"},
        {"keys_twice",
         LegacyParts{.keys = pickle("]" + text("0") + "a" + text("0") + "a"),
                     .storages = LegacyParts{}.storages + LegacyParts{}.storages}
             .content(),
         kBadFile, "lists a storage twice"},
        {"storage_size_wrong", LegacyParts{.storages = little_endian(3, 8) + "123456789012"}.content(),
         kBadFile, "wrong size"},
        {"storage_cut", LegacyParts{.storages = little_endian(2, 8) + "1234567"}.content(), kBadFile,
         "tensor data is missing"},
        {"storages_missing", LegacyParts{.storages = ""}.content(), kBadFile, "tensor data is missing"},
    };
}

CheckResult check_bad(const BadFile& bad) {
    const TempFolder folder;
    const auto path = folder.write("权重\u3000一.bin", bad.content);
    return expect_refused(Checkpoint::open_file(path), bad.kind, "权重\u3000一.bin", bad.finding);
}

/// The unchanged building blocks must load, or the refusals above would prove nothing.
CheckResult check_good(const std::string& content) {
    const TempFolder folder;
    const auto checkpoint = Checkpoint::open_file(folder.write("good.bin", content));
    if (!checkpoint) return failed(checkpoint.error().message);
    const auto tensor = checkpoint->tensor("w");
    if (!tensor) return failed(tensor.error().message);
    return hex(tensor->bytes) == "0000803f00000040" ? passed() : failed(hex(tensor->bytes));
}

}  // namespace

std::vector<Check> torch_checks() {
    const std::string tensor = TensorParts{}.opcodes();
    const std::string protocol4 =
        "\x80\x04\x95"s + little_endian(0, 8) + "}\x94\x8c\x01w\x94" + tensor + "s.";
    const std::vector<std::pair<const char*, std::string>> good_files = {
        {"zip", torch_zip(TensorParts{})},
        {"zip_without_root",
         zip_file({{"data.pkl", pickle(dict_with(tensor))}, {"data/0", "\0\0\x80\x3f\0\0\0\x40"s}})},
        {"zip_nested_state_dict",
         torch_zip(pickle("}(" + text("epoch") + "K\3" + text("loss") + "G" + std::string(8, '\0') +
                          text("state_dict") + dict_with(tensor) + "u"))},
        {"zip_protocol_4", torch_zip(protocol4)},
        {"zip_with_comment", patched(torch_zip(TensorParts{}) + "hello", "PK\x05\x06", 20, "\5"s)},
        {"legacy", LegacyParts{}.content()},
    };
    std::vector<Check> checks;
    for (const auto& [label, content] : good_files) {
        checks.push_back(
            {fmt::format("torch/accepts/{}", label), [content = content] { return check_good(content); }});
    }
    for (const auto& [part, files] :
         {std::pair("pickle", bad_pickles()), std::pair("tensor", bad_tensors()),
          std::pair("zip", bad_archives()), std::pair("legacy", bad_legacy_files())}) {
        for (const BadFile& bad : files) {
            checks.push_back(
                {fmt::format("torch/refuses/{}/{}", part, bad.name), [bad] { return check_bad(bad); }});
        }
    }
    return checks;
}

}  // namespace glmchat::test
