#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/engine/text/text_checks.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>

#include "engine/tokenizer/tokenizer.h"

namespace glmchat::test {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with the object.
class TemporaryFolder {
  public:
    explicit TemporaryFolder(const std::string& name) : path_(fs::temp_directory_path() / name) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    ~TemporaryFolder() { fs::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

std::string read_bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string golden_model() {
    return read_bytes(source_dir() / "tests/golden/tokenizer/tokenizer.model");
}

/// `model` must be refused with this kind and a sentence that names the file.
CheckResult must_refuse(const std::string& model, StatusKind kind) {
    const auto tokenizer = Tokenizer::from_bytes(model, "tokenizer.model");
    if (tokenizer) return failed("was accepted");
    if (tokenizer.error().kind != kind) return failed("other kind of error: " + tokenizer.error().message);
    if (tokenizer.error().message.find("tokenizer.model") == std::string::npos) {
        return failed("the message does not name the file: " + tokenizer.error().message);
    }
    return passed(tokenizer.error().message);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    if (at == std::string::npos) std::abort();  // the golden model always has it
    return text.replace(at, from.size(), to);
}

/// Every truncation is refused or, where it falls between two fields, gives a model that lacks something and
/// is refused too.
CheckResult check_truncations() {
    const std::string model = golden_model();
    for (std::size_t size = 0; size + 1 < model.size(); size += 37) {
        // What follows the vocabulary is optional to protobuf, so only cuts inside the pieces must be
        // noticed.
        if (Tokenizer::from_bytes(model.substr(0, size), "tokenizer.model") && size < model.size() / 2) {
            return failed(fmt::format("{} of {} bytes were accepted", size, model.size()));
        }
    }
    return passed();
}

CheckResult check_odd_paths() {
    const TemporaryFolder folder("glmchat 模型　目录（一）é");
    fs::copy_file(source_dir() / "tests/golden/tokenizer/tokenizer.model", folder.path() / "tokenizer.model");
    const auto tokenizer = Tokenizer::open_folder(folder.path());
    return tokenizer ? passed() : failed(tokenizer.error().message);
}

CheckResult check_missing_file() {
    const TemporaryFolder folder("glmchat-no-tokenizer");
    const auto tokenizer = Tokenizer::open_folder(folder.path());
    if (tokenizer) return failed("a missing file was opened");
    if (tokenizer.error().kind != StatusKind::kNotFound) return failed(tokenizer.error().message);
    return passed(tokenizer.error().message);
}

}  // namespace

std::vector<Check> tokenizer_file_checks() {
    const auto refuse = [](std::string name, std::string model, StatusKind kind) {
        return Check{"file/" + std::move(name),
                     [model = std::move(model), kind] { return must_refuse(model, kind); }};
    };
    const std::string model = golden_model();
    return {
        refuse("empty", "", StatusKind::kBadFile),
        refuse("Git-LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1018370\n",
               StatusKind::kBadFile),
        refuse("tiktoken vocabulary", "IQ== 0\nIg== 1\nIw== 2\n", StatusKind::kUnsupported),
        refuse("text", "hello, this is no model", StatusKind::kBadFile),
        refuse("half", model.substr(0, model.size() / 2), StatusKind::kBadFile),
        refuse("zeros", std::string(4096, '\0'), StatusKind::kBadFile),
        refuse("a byte piece is missing", replaced(model, "<0x41>", "<0xzz>"), StatusKind::kBadFile),
        refuse("a piece twice", replaced(model, "<0x41>", "<0x42>"), StatusKind::kBadFile),
        {"file/truncations", check_truncations},
        {"file/odd paths", check_odd_paths},
        {"file/missing", check_missing_file},
    };
}

}  // namespace glmchat::test
