#include <set>

#include "api.h"
#include "device.h"
#include "streams.h"
#include <cublas_v2.h>

/// The cuBLAS calls that glmchat makes, as plain loops: FP16, BF16 or FP32 operands, float32 sums.
struct cublasContext {
    CUstream_st* stream = nullptr;
};

namespace emu {
namespace {

std::set<cublasContext*> handles;

/// One operand: column-major, `stride` elements from one matrix of a batch to the next.
struct Matrix {
    char* data;
    cudaDataType type;
    int rows;
    int cols;
    int leading;
    long long stride;

    std::size_t element_bytes() const { return type == CUDA_R_32F ? 4 : 2; }
    char* column(int batch, int col) const {
        return data + static_cast<std::size_t>(batch * stride + static_cast<long long>(col) * leading) *
                          element_bytes();
    }
};

struct Product {
    bool transposed_a;
    bool transposed_b;
    int m;
    int n;
    int k;
    float alpha;
    float beta;
    Matrix a;
    Matrix b;
    Matrix c;
    int batches;
};

float load(const char* address, cudaDataType type) {
    switch (type) {
        case CUDA_R_16F:
            return __half2float(*reinterpret_cast<const __half*>(address));
        case CUDA_R_16BF:
            return __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(address));
        default:
            return *reinterpret_cast<const float*>(address);
    }
}

void store(char* address, cudaDataType type, float value) {
    switch (type) {
        case CUDA_R_16F:
            *reinterpret_cast<__half*>(address) = __float2half_rn(value);
            return;
        case CUDA_R_16BF:
            *reinterpret_cast<__nv_bfloat16*>(address) = __float2bfloat16_rn(value);
            return;
        default:
            *reinterpret_cast<float*>(address) = value;
    }
}

bool judge(const Matrix& matrix, int batch, Purpose purpose) {
    for (int col = 0; col < matrix.cols; ++col) {
        const auto bytes = static_cast<std::size_t>(matrix.rows) * matrix.element_bytes();
        if (!judge_operation(matrix.column(batch, col), bytes, purpose, "cublasGemm")) return false;
    }
    return true;
}

/// As float32, every row of op(A) or column of op(B) contiguous in k.
std::vector<float> unpack(const Matrix& matrix, int batch, bool k_is_row, int outer, int k) {
    std::vector<float> values(static_cast<std::size_t>(outer) * static_cast<std::size_t>(k));
    for (int col = 0; col < matrix.cols; ++col) {
        const char* const source = matrix.column(batch, col);
        for (int row = 0; row < matrix.rows; ++row) {
            const std::size_t at = k_is_row ? static_cast<std::size_t>(col) * static_cast<std::size_t>(k) +
                                                  static_cast<std::size_t>(row)
                                            : static_cast<std::size_t>(row) * static_cast<std::size_t>(k) +
                                                  static_cast<std::size_t>(col);
            values[at] = load(source + static_cast<std::size_t>(row) * matrix.element_bytes(), matrix.type);
        }
    }
    return values;
}

void multiply(const Product& p, int batch) {
    const bool reads_c = p.beta != 0.0F;
    if (!judge(p.a, batch, Purpose::kRead) || !judge(p.b, batch, Purpose::kRead)) return;
    if (reads_c && !judge(p.c, batch, Purpose::kRead)) return;
    if (!judge(p.c, batch, Purpose::kWrite)) return;
    const std::vector<float> a = unpack(p.a, batch, p.transposed_a, p.m, p.k);
    const std::vector<float> b = unpack(p.b, batch, !p.transposed_b, p.n, p.k);
    for (int col = 0; col < p.n; ++col) {
        for (int row = 0; row < p.m; ++row) {
            const float* const left =
                a.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(p.k);
            const float* const right =
                b.data() + static_cast<std::size_t>(col) * static_cast<std::size_t>(p.k);
            float sum = 0.0F;
            for (int i = 0; i < p.k; ++i) sum += left[i] * right[i];
            char* const target = p.c.column(batch, col) + static_cast<std::size_t>(row) * p.c.element_bytes();
            store(target, p.c.type, p.alpha * sum + (reads_c ? p.beta * load(target, p.c.type) : 0.0F));
        }
    }
}

cublasStatus_t wrong(const std::string& what, cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE) {
    misuse("cublasGemm", what);
    return status;
}

bool known_type(cudaDataType type) {
    return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F;
}

/// Empty if cuBLAS takes it.
std::string objection(const Product& p, cublasComputeType_t compute) {
    if (p.m < 0 || p.n < 0 || p.k < 0 || p.batches < 0) return "a negative extent";
    if (compute != CUBLAS_COMPUTE_32F) return "compute type not emulated";
    if (!known_type(p.a.type) || p.a.type != p.b.type || !known_type(p.c.type))
        return "element types not emulated";
    if (p.c.type != CUDA_R_32F && p.c.type != p.a.type) return "no such combination of element types";
    for (const Matrix* matrix : {&p.a, &p.b, &p.c}) {
        if (matrix->leading < std::max(1, matrix->rows)) return "a leading dimension smaller than the rows";
        if (matrix->data != nullptr && (arena.base == nullptr || !arena.holds(matrix->data))) {
            return "an operand that is not device memory";
        }
    }
    return "";
}

cublasStatus_t enqueue_product(cublasContext* handle, const Product& product, cublasComputeType_t compute) {
    const std::lock_guard lock(machine_mutex());
    if (before_call("cublasGemm") != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (handles.count(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    const std::string why = objection(product, compute);
    if (!why.empty()) return wrong(why);
    if (product.m == 0 || product.n == 0 || product.batches == 0) return CUBLAS_STATUS_SUCCESS;
    CUstream_st* const stream = handle->stream == nullptr ? default_stream() : find_stream(handle->stream);
    if (stream == nullptr) return wrong("the stream does not exist");
    if (stream == default_stream()) wrong("on the default stream");
    const auto run = [product] {
        for (int batch = 0; batch < product.batches; ++batch) multiply(product, batch);
    };
    const cudaError_t result = enqueue(*stream, {run, "cublasGemm", nullptr});
    return result == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

Matrix matrix_of(const void* data, cudaDataType type, int rows, int cols, int leading, long long stride) {
    return {static_cast<char*>(const_cast<void*>(data)), type, rows, cols, leading, stride};
}

}  // namespace

std::vector<std::string> cublas_leaks() {
    return std::vector<std::string>(handles.size(), "cuBLAS handle");
}

}  // namespace emu

using namespace emu;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    const std::lock_guard lock(machine_mutex());
    *handle = new cublasContext;
    handles.insert(*handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    const std::lock_guard lock(machine_mutex());
    if (handles.erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    const std::lock_guard lock(machine_mutex());
    if (handles.count(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
    const std::lock_guard lock(machine_mutex());
    if (handles.count(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
    const std::lock_guard lock(machine_mutex());
    if (handles.count(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
        return wrong("a workspace that is not 256-byte aligned");
    if (bytes != 0 && buffer_of(workspace, bytes) == nullptr)
        return wrong("a workspace that is not device memory");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
    const std::lock_guard lock(machine_mutex());
    return handles.count(handle) != 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "CUBLAS_STATUS_SUCCESS";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "CUBLAS_STATUS_EXECUTION_FAILED";
        default:
            return "another cuBLAS status";
    }
}

const char* cublasGetStatusString(cublasStatus_t status) {
    return cublasGetStatusName(status);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType a_type, int lda, long long stride_a,
                                          const void* b, cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long stride_c, int batch_count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
    const bool ta = transa != CUBLAS_OP_N;
    const bool tb = transb != CUBLAS_OP_N;
    Product product{ta,
                    tb,
                    m,
                    n,
                    k,
                    *static_cast<const float*>(alpha),
                    *static_cast<const float*>(beta),
                    matrix_of(a, a_type, ta ? k : m, ta ? m : k, lda, stride_a),
                    matrix_of(b, b_type, tb ? n : k, tb ? k : n, ldb, stride_b),
                    matrix_of(c, c_type, m, n, ldc, stride_c),
                    batch_count};
    return enqueue_product(handle, product, compute);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                            const void* b, cudaDataType b_type, int ldb, const void* beta, void* c,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0, b, b_type,
                                      ldb, 0, beta, c, c_type, ldc, 0, 1, compute, algorithm);
}

}  // extern "C"
