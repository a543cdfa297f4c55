#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/kernels/check_parts.h"
#include "tests/support/conformance_kit.h"
#include "tests/support/npy.h"

#include "kernels/rotary.h"

namespace glmchat::test {
namespace {

/// Position 1 of a table with base 10000 and four dims: angles 1 and 1 / 100.
CheckResult check_by_hand() {
    const std::vector<float> table = kernels::compute_rotary_table(3, 4, 10000.0F, 1.0F);
    if (table.size() != 3 * 2 * 2) return failed("size");
    const double angles[] = {0.0, 0.0, 1.0, 0.01, 2.0, 0.02};
    for (std::size_t i = 0; i < 6; ++i) {
        if (std::abs(table[2 * i] - std::cos(angles[i])) > 1e-6) return failed("cos " + std::to_string(i));
        if (std::abs(table[2 * i + 1] - std::sin(angles[i])) > 1e-6)
            return failed("sin " + std::to_string(i));
    }
    return passed();
}

struct KitTable {
    const char* file;
    float base;
    float position_divisor;
};

/// The "positions" list of rope.json.
std::vector<std::size_t> kit_positions(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    const std::string json = text.str();
    const std::size_t list = json.find('[', json.find("\"positions\""));
    std::stringstream numbers(json.substr(list + 1, json.find(']', list) - list - 1));
    std::vector<std::size_t> positions;
    std::size_t position = 0;
    for (char comma = ','; comma == ',' && numbers >> position; numbers >> comma) {
        positions.push_back(position);
        comma = ' ';
    }
    return positions;
}

CheckResult check_against_kit(const KitTable& kit_table) {
    const auto kit = conformance_kit();
    if (!kit) return skipped(kKitMissing);
    const std::vector<std::size_t> positions = kit_positions(*kit / "rope" / "rope.json");
    const NpyArray expected = read_npy(*kit / "rope" / kit_table.file);
    const std::size_t row = 64;
    if (expected.values.size() != positions.size() * row)
        return failed("unexpected shape of the kit's table");
    const std::vector<float> table = kernels::compute_rotary_table(
        static_cast<std::int32_t>(positions.back()) + 1, 64, kit_table.base, kit_table.position_divisor);
    double largest = 0.0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        const double actual = table[positions[i / row] * row + i % row];
        largest = std::max(largest, std::abs(actual - expected.values[i]));
    }
    // Angles are the same float32 numbers, so only the last place of cos and sin may differ (2^-24 below 1).
    const std::string figure = "largest difference " + std::to_string(largest * 0x1p24) + " * 2^-24";
    return largest <= 0x1p-23 ? passed(figure) : failed(figure);
}

}  // namespace

std::vector<Check> rotary_checks() {
    std::vector<Check> checks = {{"rotary/by hand", check_by_hand}};
    for (const KitTable& kit_table : {KitTable{"chatglm2_dim64.npy", 10000.0F, 1.0F},
                                      {"chatglm2_32k_dim64_ratio4.npy", 10000.0F, 4.0F},
                                      {"chatglm3_32k_dim64_ratio50.npy", 500000.0F, 1.0F},
                                      {"glm4_chat_dim64_ratio500.npy", 5000000.0F, 1.0F},
                                      {"glm4_1m_dim64_ratio10000.npy", 100000000.0F, 1.0F}}) {
        checks.push_back({std::string("rotary/kit ") + kit_table.file,
                          [kit_table] { return check_against_kit(kit_table); }});
    }
    return checks;
}

}  // namespace glmchat::test
