#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/cuda/plugin.h"
#include "kernels/cuda_backend.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

namespace glmchat::kernels {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
    throw BackendError(BackendError::Kind::kDeviceFailure, reason);
}

#if defined(_WIN32)

cuda::CreateBackendFunction load_plugin() {
    refuse("this version of glmchat has no CUDA backend for Windows");
}

#else

constexpr const char* kLibraryName = "libglmchat_cuda.so";

/// Beside the program, and where an installed program keeps its plug-ins. No search path of the system: a
/// library of that name found elsewhere would be another version's.
std::vector<std::filesystem::path> candidates() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const std::filesystem::path folder = program.parent_path();
    return {folder / kLibraryName, folder.parent_path() / "lib" / "glmchat" / kLibraryName};
}

/// Stays loaded until the program ends: backends live in it.
void* open_library() {
    for (const std::filesystem::path& path : candidates()) {
        std::error_code error;
        if (!std::filesystem::exists(path, error)) continue;
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) return library;
        refuse(std::string("a CUDA library is missing: ") + dlerror());  // NOLINT(concurrency-mt-unsafe)
    }
    refuse("this installation of glmchat has no CUDA backend (" + std::string(kLibraryName) + ")");
}

cuda::CreateBackendFunction load_plugin() {
    void* const library = open_library();
    const auto version =
        reinterpret_cast<cuda::PluginVersionFunction>(dlsym(library, cuda::kPluginVersionSymbol));
    const auto create =
        reinterpret_cast<cuda::CreateBackendFunction>(dlsym(library, cuda::kCreateBackendSymbol));
    if (version == nullptr || create == nullptr || version() != cuda::kPluginVersion) {
        refuse(std::string(kLibraryName) + " belongs to another version of glmchat; install it again");
    }
    return create;
}

#endif

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int index) {
    const cuda::CreateBackendFunction create = load_plugin();
    std::array<char, 512> message{};
    std::unique_ptr<Backend> backend(create(index, message.data(), message.size()));
    if (backend == nullptr) refuse(message.data());
    return backend;
}

}  // namespace glmchat::kernels
