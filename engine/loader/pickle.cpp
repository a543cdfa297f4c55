#include "engine/loader/pickle.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/loader/message.h"

namespace glmchat {
namespace {

using Kind = PickleValue::Kind;
using Role = PickleName::Role;

constexpr std::array<PickleName, 13> kNames{{
    {"collections", "OrderedDict", Role::kOrderedDict},
    {"torch._utils", "_rebuild_tensor_v2", Role::kRebuildTensor},
    {"torch._utils", "_rebuild_parameter", Role::kRebuildParameter},
    {"torch", "DoubleStorage", Role::kStorage, DataType::kFloat64},
    {"torch", "FloatStorage", Role::kStorage, DataType::kFloat32},
    {"torch", "HalfStorage", Role::kStorage, DataType::kFloat16},
    {"torch", "BFloat16Storage", Role::kStorage, DataType::kBFloat16},
    {"torch", "LongStorage", Role::kStorage, DataType::kInt64},
    {"torch", "IntStorage", Role::kStorage, DataType::kInt32},
    {"torch", "ShortStorage", Role::kStorage, DataType::kInt16},
    {"torch", "CharStorage", Role::kStorage, DataType::kInt8},
    {"torch", "ByteStorage", Role::kStorage, DataType::kUInt8},
    {"torch", "BoolStorage", Role::kStorage, DataType::kBool},
}};

/// A real shard has some thousand values in some hundred kilobytes.
constexpr std::size_t kMostValues = std::size_t{1} << 19U;
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
constexpr int kNewestProtocol = 5;

/// The closed list of opcodes; named as in Python's pickletools.
enum class Opcode : std::uint8_t {
    kProto = 0x80,
    kFrame = 0x95,
    kMark = '(',
    kStop = '.',
    kNone = 'N',
    kNewTrue = 0x88,
    kNewFalse = 0x89,
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kBinInt = 'J',
    kLong1 = 0x8A,
    kBinFloat = 'G',
    kBinUnicode = 'X',
    kShortBinUnicode = 0x8C,
    kShortBinString = 'U',
    kEmptyTuple = ')',
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kTuple = 't',
    kEmptyList = ']',
    kAppend = 'a',
    kAppends = 'e',
    kEmptyDict = '}',
    kSetItem = 's',
    kSetItems = 'u',
    kGlobal = 'c',
    kStackGlobal = 0x93,
    kReduce = 'R',
    kBuild = 'b',
    kBinPersistentId = 'Q',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kMemoize = 0x94,
    kBinGet = 'h',
    kLongBinGet = 'j',
};

/// The pickle machine: a stack of values, marks on it, and a memo. The first failure sticks: reads after it
/// give nothing.
class PickleReader {
  public:
    explicit PickleReader(std::string_view bytes) : bytes_(bytes.substr(0, kMostBytes)) {}

    /// @return whether the pickle was read up to its STOP; else failure() says why not
    bool run() {
        while (!stopped_ && failure_.empty()) {
            const auto opcode = static_cast<Opcode>(read_number(1));
            if (failure_.empty()) run_opcode(opcode);
        }
        if (failure_.empty() && (stack_.size() != 1 || !marks_.empty())) fail("does not end in one value");
        return failure_.empty();
    }

    const std::string& failure() const { return failure_; }
    Pickle take_result() { return {std::move(values_), stack_.back(), at_}; }

  private:
    void fail(std::string finding) {
        if (failure_.empty()) failure_ = std::move(finding);
    }

    void fail_at_end() { fail(bytes_.size() == kMostBytes ? "is too long" : "is cut short"); }

    // Bytes of the pickle.

    std::string_view read_bytes(std::uint64_t count) {
        if (!failure_.empty()) return {};
        if (count > bytes_.size() - at_) {
            fail_at_end();
            return {};
        }
        const std::string_view bytes = bytes_.substr(at_, count);
        at_ += count;
        return bytes;
    }

    /// Little-endian; `above` fills the bits above them.
    static std::uint64_t number_in(std::string_view bytes, std::uint64_t above = 0) {
        std::uint64_t number = above;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            number = number << 8U | static_cast<unsigned char>(bytes[i]);
        }
        return number;
    }

    /// Unsigned; zero after a failure.
    std::uint64_t read_number(std::size_t num_bytes) { return number_in(read_bytes(num_bytes)); }

    std::string_view read_line() {
        const std::size_t end = bytes_.find('\n', at_);
        if (end == std::string_view::npos) {
            fail_at_end();
            return {};
        }
        const std::string_view line = read_bytes(end - at_);
        read_bytes(1);
        return line;
    }

    // The stack. Nothing below the last mark may be touched.

    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

    void push(PickleValue value) {
        if (!failure_.empty()) return;
        if (values_.size() == kMostValues) return fail("has too many values");
        stack_.push_back(static_cast<PickleRef>(values_.size()));
        values_.push_back(std::move(value));
    }
    void set_mark() {
        if (marks_.size() == kMostValues) return fail("has too many values");
        marks_.push_back(stack_.size());
    }
    void push_number(Kind kind, std::int64_t number) { push({.kind = kind, .number = number}); }
    void push_items(Kind kind, std::vector<PickleRef> items) {
        push({.kind = kind, .items = std::move(items)});
    }

    /// The topmost `count` values, lowest first; nothing after a failure.
    std::vector<PickleRef> pop(std::size_t count) {
        if (failure_.empty() && stack_.size() - floor() < count) fail("takes more values than it has");
        if (!failure_.empty()) return {};
        const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
        std::vector<PickleRef> values(first, stack_.end());
        stack_.erase(first, stack_.end());
        return values;
    }

    /// The values above the last mark, which goes too.
    std::vector<PickleRef> pop_to_mark() {
        if (marks_.empty()) fail("takes values to a mark it has not set");
        std::vector<PickleRef> values = pop(stack_.size() - floor());
        if (failure_.empty()) marks_.pop_back();
        return values;
    }

    /// The topmost value when it is of that kind, else null after a failure.
    PickleValue* top(Kind kind) {
        if (failure_.empty() && (stack_.size() == floor() || values_[stack_.back()].kind != kind)) {
            fail("fills something that is no list or dictionary");
        }
        return failure_.empty() ? &values_[stack_.back()] : nullptr;
    }

    // What the opcodes do.

    void push_long(std::uint64_t num_bytes) {
        const std::string_view bytes = read_bytes(num_bytes);
        if (bytes.size() > sizeof(std::int64_t)) return push({.kind = Kind::kLong, .text = bytes});
        const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
        push_number(Kind::kInt,
                    static_cast<std::int64_t>(number_in(bytes, negative ? ~std::uint64_t{0} : 0)));
    }

    void push_string(std::uint64_t num_bytes) {
        push({.kind = Kind::kString, .text = read_bytes(num_bytes)});
    }

    void push_name(std::string_view module, std::string_view name) {
        if (!failure_.empty()) return;
        const auto known = std::ranges::find_if(
            kNames, [&](const PickleName& entry) { return entry.module == module && entry.name == name; });
        if (known == kNames.end()) {
            return fail(fmt::format(
                "asks for {}, which no tensor needs",
                in_quotes(std::string(module.substr(0, 80)) + "." + std::string(name.substr(0, 80)))));
        }
        push({.kind = Kind::kName, .name = &*known});
    }

    void push_name_from_lines() {
        const std::string_view module = read_line();
        push_name(module, read_line());
    }

    void push_name_from_stack() {
        const auto parts = pop(2);
        if (!failure_.empty()) return;
        if (values_[parts[0]].kind != Kind::kString || values_[parts[1]].kind != Kind::kString) {
            return fail("asks for a name that is no text");
        }
        push_name(values_[parts[0]].text, values_[parts[1]].text);
    }

    void fill(Kind kind, const std::vector<PickleRef>& items) {
        if (kind == Kind::kDict && items.size() % 2 != 0) fail("has a dictionary key without a value");
        if (PickleValue* container = top(kind)) {
            container->items.insert(container->items.end(), items.begin(), items.end());
        }
    }

    /// Records a call; OrderedDict() is known to be an empty dictionary.
    void reduce() {
        const auto parts = pop(2);
        if (!failure_.empty()) return;
        const PickleValue& callee = values_[parts[0]];
        const PickleValue& arguments = values_[parts[1]];
        if (callee.kind != Kind::kName || arguments.kind != Kind::kTuple) {
            return fail("calls something that is no function");
        }
        if (callee.name->role == Role::kStorage) return fail("calls a storage type");
        if (callee.name->role != Role::kOrderedDict) {
            return push({.kind = Kind::kCall, .name = callee.name, .items = {parts[1]}});
        }
        if (!arguments.items.empty()) return fail("builds a dictionary in a way no state dict needs");
        push({.kind = Kind::kDict});
    }

    /// A module's state_dict() is an OrderedDict with an attribute (_metadata: version numbers), which
    /// tensors do not need.
    void build() {
        pop(1);
        top(Kind::kDict);
    }

    void memoize(std::uint64_t index) {
        if (failure_.empty() && stack_.size() == floor()) fail("keeps a value it does not have");
        if (index >= kMostValues) fail("keeps too many values");
        if (!failure_.empty()) return;
        if (index >= memo_.size()) memo_.resize(index + 1);
        memo_[index] = stack_.back();
    }

    void recall(std::uint64_t index) {
        if (failure_.empty() && (index >= memo_.size() || !memo_[index])) {
            fail("uses a value it has not kept");
        }
        if (failure_.empty()) stack_.push_back(*memo_[index]);
    }

    void run_opcode(Opcode opcode) {
        switch (opcode) {
            case Opcode::kProto:
                if (read_number(1) > kNewestProtocol) fail("has a protocol newer than this program");
                return;
            case Opcode::kFrame:
                read_bytes(8);
                return;
            case Opcode::kMark:
                return set_mark();
            case Opcode::kStop:
                stopped_ = true;
                return;
            case Opcode::kNone:
                return push({});
            case Opcode::kNewTrue:
                return push_number(Kind::kBool, 1);
            case Opcode::kNewFalse:
                return push_number(Kind::kBool, 0);
            case Opcode::kBinInt1:
                return push_number(Kind::kInt, static_cast<std::int64_t>(read_number(1)));
            case Opcode::kBinInt2:
                return push_number(Kind::kInt, static_cast<std::int64_t>(read_number(2)));
            case Opcode::kBinInt:
                return push_number(Kind::kInt, static_cast<std::int32_t>(read_number(4)));
            case Opcode::kLong1:
                return push_long(read_number(1));
            case Opcode::kBinFloat:
                read_bytes(8);
                return push({.kind = Kind::kFloat});
            case Opcode::kBinUnicode:
                return push_string(read_number(4));
            case Opcode::kShortBinUnicode:
            case Opcode::kShortBinString:
                return push_string(read_number(1));
            case Opcode::kEmptyTuple:
                return push_items(Kind::kTuple, {});
            case Opcode::kTuple1:
                return push_items(Kind::kTuple, pop(1));
            case Opcode::kTuple2:
                return push_items(Kind::kTuple, pop(2));
            case Opcode::kTuple3:
                return push_items(Kind::kTuple, pop(3));
            case Opcode::kTuple:
                return push_items(Kind::kTuple, pop_to_mark());
            case Opcode::kEmptyList:
                return push_items(Kind::kList, {});
            case Opcode::kAppend:
                return fill(Kind::kList, pop(1));
            case Opcode::kAppends:
                return fill(Kind::kList, pop_to_mark());
            case Opcode::kEmptyDict:
                return push_items(Kind::kDict, {});
            case Opcode::kSetItem:
                return fill(Kind::kDict, pop(2));
            case Opcode::kSetItems:
                return fill(Kind::kDict, pop_to_mark());
            case Opcode::kGlobal:
                return push_name_from_lines();
            case Opcode::kStackGlobal:
                return push_name_from_stack();
            case Opcode::kReduce:
                return reduce();
            case Opcode::kBuild:
                return build();
            case Opcode::kBinPersistentId:
                return push_items(Kind::kPersistentId, pop(1));
            case Opcode::kBinPut:
                return memoize(read_number(1));
            case Opcode::kLongBinPut:
                return memoize(read_number(4));
            case Opcode::kMemoize:
                return memoize(memo_.size());
            case Opcode::kBinGet:
                return recall(read_number(1));
            case Opcode::kLongBinGet:
                return recall(read_number(4));
        }
        fail(fmt::format("has the opcode {:#04x}, which no tensor needs", static_cast<unsigned>(opcode)));
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    bool stopped_ = false;
    std::string failure_;
    std::vector<PickleValue> values_;
    std::vector<PickleRef> stack_;
    std::vector<std::size_t> marks_;
    std::vector<std::optional<PickleRef>> memo_;
};

}  // namespace

Result<Pickle> read_pickle(std::span<const std::byte> bytes, std::string_view file_name) {
    PickleReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (reader.run()) return reader.take_result();
    return bad_file(file_name, "its pickle " + reader.failure(),
                    "download this file again from a source you trust");
}

}  // namespace glmchat
