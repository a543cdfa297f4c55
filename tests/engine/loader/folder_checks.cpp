#include <functional>

#include "tests/engine/loader/all_checks.h"
#include "tests/engine/loader/loader_test_support.h"
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/loader/model_config.h"

// What a model folder may hold: complete sets, sets with a file missing or replaced, nothing of use. Files
// come from the golden folder, whose tensor "scalar" is in every complete set.

namespace glmchat::test {
namespace {

namespace fs = std::filesystem;
using enum StatusKind;

constexpr const char* kPointer =
    "version https://git-lfs.github.com/spec/v1\noid "
    "sha256:0000000000000000000000000000000000000000000000000000000000000000\nsize 1018370\n";

void copy_golden(const char* from, const fs::path& to) {
    fs::copy(golden_folder() / from, to, fs::copy_options::recursive);
}

struct Case {
    const char* name;
    std::function<void(const TempFolder&)> prepare;
    /// Accepted: the format that is used. Refused: kind, file, finding.
    const char* format = nullptr;
    StatusKind kind = kInternal;
    const char* file = "";
    const char* finding = "";
};

std::vector<Case> complete_sets() {
    return {
        {"single_safetensors",
         [](const TempFolder& folder) {
             copy_golden("plain.safetensors", folder.path() / "model.safetensors");
         },
         "safetensors"},
        {"single_bin",
         [](const TempFolder& folder) {
             copy_golden("zip_aligned.bin", folder.path() / "pytorch_model.bin");
         },
         "bin (zip)"},
        {"single_legacy_bin",
         [](const TempFolder& folder) { copy_golden("legacy.bin", folder.path() / "pytorch_model.bin"); },
         "bin (legacy)"},
        {"numbered_without_index",
         [](const TempFolder& folder) {
             copy_golden("sharded_zip", folder.path());
             fs::remove(folder.path() / "pytorch_model.bin.index.json");
         },
         "bin (zip)"},
        {"safetensors_before_bin",
         [](const TempFolder& folder) {
             copy_golden("sharded_zip", folder.path());
             copy_golden("sharded_safetensors", folder.path());
         },
         "safetensors"},
        {"bin_when_safetensors_incomplete",
         [](const TempFolder& folder) {
             copy_golden("sharded_zip", folder.path());
             copy_golden("sharded_safetensors", folder.path());
             fs::remove(folder.path() / "model-00002-of-00003.safetensors");
         },
         "bin (zip)"},
        {"bin_when_safetensors_is_a_pointer",
         [](const TempFolder& folder) {
             copy_golden("legacy.bin", folder.path() / "pytorch_model.bin");
             folder.write("model.safetensors", kPointer);
         },
         "bin (legacy)"},
        {"index_and_other_single_file",
         [](const TempFolder& folder) {
             copy_golden("sharded_safetensors", folder.path());
             copy_golden("plain.safetensors", folder.path() / "model.safetensors");
         },
         "safetensors"},
        {"two_numberings_one_complete",
         [](const TempFolder& folder) {
             copy_golden("sharded_legacy", folder.path());
             fs::remove(folder.path() / "pytorch_model.bin.index.json");
             folder.write("pytorch_model-00001-of-00002.bin", "left over");
         },
         "bin (legacy)"},
        {"links_to_files",
         [](const TempFolder& folder) {
             fs::create_symlink(golden_folder() / "plain.safetensors", folder.path() / "model.safetensors");
         },
         "safetensors"},
    };
}

std::vector<Case> unusable_sets() {
    const auto index = [](const char* content) {
        return [content](const TempFolder& folder) { folder.write("pytorch_model.bin.index.json", content); };
    };
    const auto single = [](std::string content) {
        return [content = std::move(content)](const TempFolder& folder) {
            folder.write("pytorch_model.bin", content);
        };
    };
    return {
        {"shard_of_index_missing",
         [](const TempFolder& folder) {
             copy_golden("sharded_zip", folder.path());
             fs::remove(folder.path() / "pytorch_model-00002-of-00003.bin");
         },
         nullptr, kNotFound, "pytorch_model-00002-of-00003.bin",
         "shard is missing, though pytorch_model.bin.index.json names it"},
        {"numbered_shard_missing",
         [](const TempFolder& folder) {
             copy_golden("sharded_safetensors", folder.path());
             fs::remove(folder.path() / "model.safetensors.index.json");
             fs::remove(folder.path() / "model-00003-of-00003.safetensors");
         },
         nullptr, kNotFound, "model-00003-of-00003.safetensors",
         "shard is missing, though others of its set are there"},
        {"shard_is_a_pointer",
         [](const TempFolder& folder) {
             copy_golden("sharded_zip", folder.path());
             folder.write("pytorch_model-00003-of-00003.bin", kPointer);
         },
         nullptr, kBadFile, "pytorch_model-00003-of-00003.bin", "Git-LFS pointer"},
        {"shard_cut_short",
         [](const TempFolder& folder) {
             copy_golden("sharded_safetensors", folder.path());
             fs::resize_file(folder.path() / "model-00002-of-00003.safetensors", 600);
         },
         nullptr, kBadFile, "model-00002-of-00003.safetensors", "lies outside the file (cut short"},
        {"shard_is_another_shard",
         [](const TempFolder& folder) {
             copy_golden("sharded_safetensors", folder.path());
             fs::copy_file(folder.path() / "model-00001-of-00003.safetensors",
                           folder.path() / "model-00002-of-00003.safetensors",
                           fs::copy_options::overwrite_existing);
         },
         nullptr, kBadFile, "model-00002-of-00003.safetensors",
         "is stored a second time (also in model-00001-of-00003.safetensors)"},
        {"index_names_a_tensor_its_shard_lacks",
         [](const TempFolder& folder) {
             copy_golden("zip_aligned.bin", folder.path() / "weights.bin");
             folder.write("pytorch_model.bin.index.json",
                          R"({"weight_map":{"scalar":"weights.bin","other":"weights.bin"}})");
         },
         nullptr, kBadFile, "weights.bin",
         "tensor \"other\" is not in it, though pytorch_model.bin.index.json says so"},
        {"index_is_a_pointer", index(kPointer), nullptr, kBadFile, "pytorch_model.bin.index.json",
         "Git-LFS pointer"},
        {"index_empty", index(""), nullptr, kBadFile, "pytorch_model.bin.index.json", "the file is empty"},
        {"index_not_json", index("{"), nullptr, kBadFile, "pytorch_model.bin.index.json", "not valid JSON"},
        {"index_without_map", index("{}"), nullptr, kBadFile, "pytorch_model.bin.index.json",
         "no weight_map"},
        {"index_map_of_numbers", index(R"({"weight_map":{"w":1}})"), nullptr, kBadFile,
         "pytorch_model.bin.index.json", "no plain file name for tensor \"w\""},
        {"index_leaves_the_folder", index(R"({"weight_map":{"w":"../secret.bin"}})"), nullptr, kBadFile,
         "pytorch_model.bin.index.json", "no plain file name"},
        {"index_with_absolute_path", index(R"({"weight_map":{"w":"/etc/passwd"}})"), nullptr, kBadFile,
         "pytorch_model.bin.index.json", "no plain file name"},
        {"index_with_backslash", index(R"({"weight_map":{"w":"..\\secret.bin"}})"), nullptr, kBadFile,
         "pytorch_model.bin.index.json", "no plain file name"},
        {"index_names_the_folder", index(R"({"weight_map":{"w":"."}})"), nullptr, kBadFile,
         "pytorch_model.bin.index.json", "no plain file name"},
        {"gguf_as_bin", single("GGUF\3"), nullptr, kUnsupported, "pytorch_model.bin", "this is a GGUF file"},
        {"ggml_as_bin", single("ggml\1"), nullptr, kUnsupported, "pytorch_model.bin", "this is a GGML file"},
        {"ggjt_as_bin", single("tjgg\1"), nullptr, kUnsupported, "pytorch_model.bin", "GGJT"},
        {"web_page_as_bin", single("<!DOCTYPE html><title>404</title>"), nullptr, kBadFile,
         "pytorch_model.bin", "web page"},
        {"noise_as_bin", single(std::string(100, '#')), nullptr, kBadFile, "pytorch_model.bin",
         "no weight format this program knows"},
        {"empty_bin", single(""), nullptr, kBadFile, "pytorch_model.bin", "the file is empty"},
        {"folder_as_bin",
         [](const TempFolder& folder) { fs::create_directory(folder.path() / "pytorch_model.bin"); }, nullptr,
         kBadFile, "pytorch_model.bin", "a folder where a file is expected"},
        {"pipe_as_bin",
         [](const TempFolder& folder) { ::mkfifo((folder.path() / "pytorch_model.bin").c_str(), 0600); },
         nullptr, kBadFile, "pytorch_model.bin", "not a regular file"},
        {"gguf_in_the_folder", [](const TempFolder& folder) { folder.write("聊天 q4.gguf", "GGUF"); },
         nullptr, kUnsupported, "聊天 q4.gguf", "GGUF or GGML"},
    };
}

CheckResult check_folder(const Case& item) {
    const TempFolder folder;
    item.prepare(folder);
    const auto checkpoint = Checkpoint::open_folder(folder.path());
    if (item.format == nullptr) return expect_refused(checkpoint, item.kind, item.file, item.finding);
    if (!checkpoint) return failed(checkpoint.error().message);
    if (checkpoint->format() != item.format) return failed("format " + checkpoint->format());
    const auto tensor = checkpoint->tensor("scalar");
    return tensor && hex(tensor->bytes) == "9a9999999999b93f" ? passed()
                                                              : failed("tensor \"scalar\" is wrong");
}

CheckResult check_unreadable() {
    if (::geteuid() == 0) return skipped("root may read every file");
    const TempFolder folder;
    const auto path = folder.write("model.safetensors", safetensors_file("{}", ""));
    fs::permissions(path, fs::perms::none);
    return expect_refused(Checkpoint::open_folder(folder.path()), kBadFile, "model.safetensors",
                          "cannot be read");
}

CheckResult check_no_folder() {
    const TempFolder folder;
    return expect_refused(Checkpoint::open_folder(folder.path() / "没有"), kNotFound, "没有",
                          "there is no such folder");
}

CheckResult check_empty_folder() {
    const TempFolder folder;
    return expect_refused(Checkpoint::open_folder(folder.path() / ""), kNotFound, display_name(folder.path()),
                          "has no weights");
}

CheckResult check_file_as_folder() {
    const TempFolder folder;
    return expect_refused(Checkpoint::open_folder(folder.write("model.safetensors", "")), kInvalidArgument,
                          "model.safetensors", "this is a file");
}

CheckResult check_no_file() {
    const TempFolder folder;
    return expect_refused(Checkpoint::open_file(folder.path() / "没有.bin"), kNotFound, "没有.bin",
                          "the file is missing");
}

CheckResult check_config_missing() {
    const TempFolder folder;
    return expect_refused(read_model_config(folder.path()), kNotFound, display_name(folder.path()),
                          "no config.json");
}

CheckResult check_config_without_folder() {
    const TempFolder folder;
    return expect_refused(read_model_config(folder.path() / "没有"), kNotFound, "没有",
                          "there is no such folder");
}

}  // namespace

std::vector<Check> folder_checks() {
    std::vector<Check> checks{{"folder/unreadable", check_unreadable},
                              {"folder/missing", check_no_folder},
                              {"folder/empty", check_empty_folder},
                              {"folder/is_a_file", check_file_as_folder},
                              {"folder/file_missing", check_no_file},
                              {"folder/config_missing", check_config_missing},
                              {"folder/config_without_folder", check_config_without_folder}};
    for (const Case& item : complete_sets()) {
        checks.push_back(
            {fmt::format("folder/accepts/{}", item.name), [item] { return check_folder(item); }});
    }
    for (const Case& item : unusable_sets()) {
        checks.push_back(
            {fmt::format("folder/refuses/{}", item.name), [item] { return check_folder(item); }});
    }
    return checks;
}

}  // namespace glmchat::test
