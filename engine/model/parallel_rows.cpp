#include "engine/model/parallel_rows.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace glmchat {
namespace {

// Small enough to even out the end of a tensor, large enough that the shared counter does not matter.
constexpr std::int64_t kRowsPerTurn = 32;

}  // namespace

void parallel_rows(std::int64_t num_rows,
                   const std::function<void(std::int64_t first, std::int64_t last)>& work) {
    std::atomic<std::int64_t> next_row{0};
    std::mutex error_mutex;
    std::exception_ptr error;
    const auto take_turns = [&] {
        try {
            for (std::int64_t first = 0; (first = next_row.fetch_add(kRowsPerTurn)) < num_rows;) {
                work(first, std::min(first + kRowsPerTurn, num_rows));
            }
        } catch (...) {
            const std::lock_guard lock(error_mutex);
            error = std::current_exception();
        }
    };

    const std::int64_t num_turns = (num_rows + kRowsPerTurn - 1) / kRowsPerTurn;
    const std::int64_t num_helpers =
        std::min<std::int64_t>(std::thread::hardware_concurrency(), num_turns) - 1;  // this thread works too
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::int64_t i = 0; i < num_helpers; ++i) helpers.emplace_back(take_turns);
        } catch (const std::system_error&) {
            // The system gives no more threads: those that run share the rows.
        }
        take_turns();
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace glmchat
