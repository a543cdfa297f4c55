#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
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

/// A file that must be refused, with this kind and a sentence that names the file and the finding.
struct BadModel {
    const char* name;
    std::string bytes;
    StatusKind kind;
    const char* finding;
};

CheckResult must_refuse(const BadModel& bad) {
    const auto tokenizer = Tokenizer::from_bytes(bad.bytes, "tokenizer.model");
    if (tokenizer) return failed("was accepted");
    const std::string& message = tokenizer.error().message;
    if (tokenizer.error().kind != bad.kind) return failed("other kind of error: " + message);
    for (const char* part : {"tokenizer.model", bad.finding}) {
        if (message.find(part) == std::string::npos)
            return failed(fmt::format("no \"{}\" in: {}", part, message));
    }
    return passed(message);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    if (at == std::string::npos) std::abort();  // the golden model always has it
    return text.replace(at, from.size(), to);
}

/// A protobuf field of bytes.
std::string field(int number, const std::string& bytes) {
    std::string size;
    for (std::size_t rest = bytes.size(); rest > 0; rest >>= 7)
        size += static_cast<char>((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
    return static_cast<char>(number << 3 | 2) + (size.empty() ? std::string(1, '\0') : size) + bytes;
}

/// A protobuf field of a small number.
std::string field(int number, char value) {
    return {static_cast<char>(number << 3), value};
}

/// A vocabulary entry as it stands in the file.
std::string piece(const std::string& text, char type, float score = 0.0F) {
    std::string score_bytes(sizeof(score), '\0');
    std::memcpy(score_bytes.data(), &score, sizeof(score));
    return field(1, field(1, text) + '\x15' + score_bytes + field(3, type));
}
constexpr char kNormal = 1;
constexpr char kUnknown = 2;
constexpr char kControl = 3;
constexpr char kUserDefined = 4;

CheckResult check_truncations() {
    const std::string model = golden_model();
    constexpr std::size_t kStep = 37;
    constexpr std::size_t kSettingsBytes = 200;  // what follows the pieces is cut at every byte
    std::size_t num_refused = 0;
    for (std::size_t size = 0; size < model.size();
         size += size + kSettingsBytes < model.size() ? kStep : 1) {
        if (Tokenizer::from_bytes(model.substr(0, size), "tokenizer.model"))
            return failed(fmt::format("{} of {} bytes were accepted", size, model.size()));
        ++num_refused;
    }
    return passed(fmt::format("{} refused", num_refused));
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
    const std::string model = golden_model();
    // Protobuf messages merge when they are laid end to end: what is appended changes a model that is
    // complete.
    const auto with = [&model](const std::string& more) { return model + more; };
    constexpr auto kBadFile = StatusKind::kBadFile;
    constexpr auto kUnsupported = StatusKind::kUnsupported;
    const std::vector<BadModel> bad_models = {
        {"empty", "", kBadFile, "not a sentencepiece model"},
        {"Git-LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1018370\n",
         kBadFile, "Git-LFS"},
        {"tiktoken vocabulary", "IQ== 0\nIg== 1\nIw== 2\n", kUnsupported, "GLM-4"},
        {"text", "hello, this is no model", kBadFile, "not a sentencepiece model"},
        {"half", model.substr(0, model.size() / 2), kBadFile, "damaged"},
        {"zeros", std::string(4096, '\0'), kBadFile, "damaged"},
        {"huge", std::string((64 << 20) + 1, 'x'), kBadFile, "far too large"},
        {"a byte piece is missing", replaced(model, "<0x41>", "<0xzz>"), kBadFile, "<0x41>"},
        {"a piece twice", with(piece("<0x42>", kNormal)), kBadFile, "twice"},
        {"an empty piece", with(piece("", kNormal)), kBadFile, "is empty"},
        {"a very long piece", with(piece(std::string(5000, 'z'), kNormal)), kBadFile, "5000 bytes"},
        {"an ill-formed piece", with(piece("\xFFz", kNormal)), kBadFile, "UTF-8"},
        {"a piece of unknown type", with(piece("zzzz", 9)), kBadFile, "unknown type"},
        {"a score of NaN", with(piece("zzzz", kNormal, std::numeric_limits<float>::quiet_NaN())), kBadFile,
         "score"},
        {"no space", replaced(model, "\x0A\x03\u2581", "\x0A\x03\uFFFC"), kBadFile, "space"},
        {"two unknown pieces", with(piece("zzzz", kUnknown)), kUnsupported, "kind"},
        {"another control piece", with(piece("zzzz", kControl)), kUnsupported, "kind"},
        {"a control piece of one character", replaced(model, "</s>", "😀"), kBadFile, "one character"},
        {"a user-defined piece", with(piece("zzzz", kUserDefined)), kUnsupported, "typed"},
        {"not BPE", with(field(2, field(3, 1))), kUnsupported, "BPE"},
        {"space as suffix", with(field(2, "\xC0\x01\x01")), kUnsupported, "spaces"},
        {"no byte fallback", with(field(2, std::string("\x98\x02\0", 3))), kBadFile, "sentencepiece"},
        {"normaliser with a table", with(field(3, field(2, "table"))), kUnsupported, "rewrites"},
        {"denormaliser with a table", with(field(5, field(2, "table"))), kUnsupported, "rewrites"},
        {"no dummy prefix", with(field(3, field(3, 0))), kUnsupported, "spaces"},
        {"spaces collapsed", with(field(3, field(4, 1))), kUnsupported, "spaces"},
        {"spaces not escaped", with(field(3, field(5, 0))), kUnsupported, "spaces"},
        {"self-test that fails", with(field(4, field(1, field(1, "hello") + field(2, "bye")))), kBadFile,
         "sentencepiece"},
    };
    std::vector<Check> checks = {
        {"file/truncations", check_truncations},
        {"file/odd paths", check_odd_paths},
        {"file/missing", check_missing_file},
    };
    for (const BadModel& bad : bad_models)
        checks.push_back({std::string("file/") + bad.name, [bad] { return must_refuse(bad); }});
    return checks;
}

}  // namespace glmchat::test
