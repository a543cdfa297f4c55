#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/loader/checkpoint.h"
#include "engine/status.h"

namespace glmchat {

/// What a pickle may name. The list in pickle.cpp is closed: any other name refuses the file.
struct PickleName {
    enum class Role : std::uint8_t { kOrderedDict, kRebuildTensor, kRebuildParameter, kStorage };

    std::string_view module;
    std::string_view name;
    Role role;
    DataType type = DataType::kFloat32;  ///< kStorage: of its elements
};

/// Index of a value in Pickle::values. Values refer to each other by index, so that a pickle which contains
/// itself or nests without end is just a list of values, and nothing ever recurses over it.
using PickleRef = std::uint32_t;

struct PickleValue {
    enum class Kind : std::uint8_t {
        kNone,
        kBool,
        kInt,
        kLong,  ///< whole number beyond 64 bits
        kFloat,
        kString,
        kTuple,
        kList,
        kDict,
        kName,
        kCall,         ///< recorded, never made
        kPersistentId  ///< stands for a storage
    };

    Kind kind = Kind::kNone;
    std::int64_t number = 0;  ///< kBool, kInt
    /// kString: its bytes; kLong: little-endian two's complement. Lies in the pickle.
    std::string_view text = {};
    const PickleName* name = nullptr;  ///< kName; kCall: what is called
    /// kTuple, kList: the items; kDict: key, value, key, value…; kCall: its one argument tuple;
    /// kPersistentId: the id.
    std::vector<PickleRef> items = {};
};

/// A pickle, taken apart.
struct Pickle {
    std::vector<PickleValue> values;
    PickleRef root = 0;
    std::size_t num_bytes = 0;  ///< the pickle's own length; more may follow in the file

    const PickleValue& operator[](PickleRef ref) const { return values[ref]; }
    const PickleValue& root_value() const { return values[root]; }
};

/// Takes a pickle apart without executing anything: knows the opcodes and names that state dicts of tensors
/// need and refuses all else. Time and memory are proportional to the bytes read, which are bounded.
/// @param bytes      begins with the pickle, untrusted; must outlive the result
/// @param file_name  for messages
Result<Pickle> read_pickle(std::span<const std::byte> bytes, std::string_view file_name);

}  // namespace glmchat
