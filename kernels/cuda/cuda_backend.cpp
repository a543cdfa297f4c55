#include "kernels/cuda/cuda_backend.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "kernels/cuda/attention_tiles.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/half.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
// 1 MiB and 256 KiB: more than the arrays of a prefill of 10,000 tokens, so that nothing grows later.
constexpr std::size_t kFirstIndices = std::size_t{1} << 18;
constexpr std::size_t kFirstRowIds = std::size_t{1} << 16;

/// Kinds of recorded stages: the first number of a signature.
enum OpKind : std::uint64_t {
    kEmbedding,
    kRmsNorm,
    kAddRmsNorm,
    kAdd,
    kLinear,
    kRotaryKvWrite,
    kAttention,
    kSwiglu,
    kGatherRows,
    kPrefix
};

template <typename T>
std::uint64_t key(T* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}
std::uint64_t key(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t key(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

/// Warps of attention that keep the device busy: eight on each multiprocessor.
std::int32_t attention_warps(int num_multiprocessors) {
    return 8 * num_multiprocessors;
}

/// Parts to cut each tile's slots into: so many that all multiprocessors have work, but none shorter than 64
/// slots in the longest context that the block tables can describe.
std::int32_t num_splits_for(const AttentionShape& shape, const DeviceBatch& batch, const KvCacheView& cache,
                            int num_multiprocessors) {
    constexpr std::int64_t kLeastSlots = 64;
    constexpr std::int64_t kMostSplits = 64;
    const std::int32_t heads = shape.num_heads / shape.num_kv_heads;
    const std::int64_t units = std::int64_t{batch.num_tiles} * shape.num_kv_heads * ((heads + 15) / 16);
    const std::int64_t longest = std::int64_t{batch.max_blocks_per_sequence} * cache.block_size;
    const std::int64_t wanted = attention_warps(num_multiprocessors) / units;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::min(wanted, longest / kLeastSlots), 1, kMostSplits));
}

/// Room that an array takes among the indices: 16-byte aligned.
std::size_t padded(std::size_t count) {
    return (count + 3) / 4 * 4;
}

/// Block tables are padded to a power of two of columns, at least 64, so that a graph outlives a growing
/// context.
std::int32_t table_stride(std::int32_t max_blocks) {
    return static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(std::max(max_blocks, 64))));
}

std::vector<std::int32_t> padded_tables(const RaggedBatch& batch, std::int32_t stride) {
    const auto num_sequences = static_cast<std::size_t>(batch.num_sequences());
    const auto num_blocks = static_cast<std::size_t>(batch.max_blocks_per_sequence);
    std::vector<std::int32_t> tables(num_sequences * static_cast<std::size_t>(stride));
    for (std::size_t sequence = 0; sequence < num_sequences; ++sequence) {
        const auto row = batch.block_tables.subspan(sequence * num_blocks, num_blocks);
        std::ranges::copy(
            row, tables.begin() + static_cast<std::ptrdiff_t>(sequence * static_cast<std::size_t>(stride)));
    }
    return tables;
}

/// The device must be current before the members that live on it are made.
int make_current(int device) {
    check(cudaSetDevice(device), "choosing the device");
    return device;
}

std::string describe(const cudaDeviceProp& properties) {
    return std::string(properties.name) + " (CUDA, compute capability " + std::to_string(properties.major) +
           "." + std::to_string(properties.minor) + ")";
}

}  // namespace

CudaBackend::CudaBackend(int device) : device_(make_current(device)), staging_(stream_), recorder_(stream_) {
    cudaDeviceProp properties = {};
    check(cudaGetDeviceProperties(&properties, device), "asking for the device's properties");
    description_ = describe(properties);
    num_multiprocessors_ = properties.multiProcessorCount;
    cublas_ = std::make_unique<LinearCublas>(stream_, properties.major);
    indices_ = DeviceMemory(kFirstIndices * sizeof(std::int32_t));
    row_ids_ = DeviceMemory(kFirstRowIds * sizeof(std::int32_t));
    constexpr std::size_t kRowFloats = 128 + 2;
    partials_ = DeviceMemory(static_cast<std::size_t>(attention_warps(num_multiprocessors_)) * 16 *
                             kRowFloats * sizeof(float));
}

CudaBackend::~CudaBackend() {
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_);
}

/// The scheduler may call from another thread than the loader; the current device belongs to the thread.
void CudaBackend::activate() const {
    make_current(device_);
}

// --- memory ---

Buffer CudaBackend::allocate(std::size_t size_bytes) {
    activate();
    const DeviceMemory memory(size_bytes);
    check(cudaMemsetAsync(memory.data(), 0, size_bytes, stream_), "clearing device memory");
    return Buffer(memory.data(), size_bytes, [owner = memory.share()](void*) {});
}

void CudaBackend::upload(void* destination, const void* host_source, std::size_t size_bytes) {
    flush();
    staging_.upload(destination, host_source, size_bytes);
}

void CudaBackend::download(void* host_destination, const void* source, std::size_t size_bytes) {
    flush();
    staging_.download(host_destination, source, size_bytes);
}

void CudaBackend::synchronize() {
    flush();
    check(cudaStreamSynchronize(stream_), "a computation on the device");
}

LinearWeight CudaBackend::prepare_weight(const LinearWeight& host) {
    activate();
    const WeightView view = view_of(host);
    const std::size_t data_bytes = element_bytes(host.type, host.out_features * host.in_features);
    const std::size_t scales_at = (data_bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::int64_t scales_per_row = host.scale_layout == ScaleLayout::kPerGroup ? view.groups_per_row : 1;
    const std::size_t scale_bytes = host.scale_layout == ScaleLayout::kNone
                                        ? 0
                                        : element_bytes(host.scale_type, host.out_features * scales_per_row);
    const DeviceMemory memory(scales_at + scale_bytes);
    auto* bytes = static_cast<std::byte*>(memory.data());
    upload(bytes, host.data, data_bytes);
    if (scale_bytes != 0) upload(bytes + scales_at, host.scales, scale_bytes);
    LinearWeight prepared = host;
    prepared.data = bytes;
    prepared.scales = scale_bytes == 0 ? nullptr : bytes + scales_at;
    prepared.owner = memory.share();
    return prepared;
}

Buffer CudaBackend::prepare_vector(const void* host_data, ElementType type, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    const auto* bytes = static_cast<const std::byte*>(host_data);
    for (std::size_t i = 0; i < values.size(); ++i) {  // memcpy: a mapped file may have it at any address
        if (type == ElementType::kFloat32) {
            std::memcpy(&values[i], bytes + 4 * i, 4);
            continue;
        }
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes + 2 * i, 2);
        values[i] = type == ElementType::kFloat16 ? half_to_float(bits) : bfloat16_to_float(bits);
    }
    Buffer buffer = allocate(values.size() * sizeof(float));
    upload(buffer.data(), values.data(), buffer.size_bytes());
    return buffer;
}

// --- one forward pass ---

void CudaBackend::begin_forward(const RaggedBatch& batch) {
    activate();
    flush();
    const std::int32_t stride = table_stride(batch.max_blocks_per_sequence);
    const auto num_tokens = static_cast<std::size_t>(batch.num_tokens());
    const auto num_sequences = static_cast<std::size_t>(batch.num_sequences());
    // Ids, positions, sequences and slots; tiles of two numbers, at most one per token; tables.
    const std::size_t most =
        6 * padded(num_tokens) + padded(num_sequences * static_cast<std::size_t>(stride));
    if (most * sizeof(std::int32_t) > indices_.size_bytes()) {
        check(cudaStreamSynchronize(stream_), "waiting for the device");
        indices_ = {};
        indices_ = DeviceMemory(2 * most * sizeof(std::int32_t));
    }
    row_ids_used_ = 0;
    query_starts_.assign(batch.query_starts.begin(), batch.query_starts.end());
    replays_ = num_tokens == num_sequences && batch.num_tokens() <= kMaxMmaRows;
    batch_ = {};
    batch_.num_tokens = batch.num_tokens();
    batch_.max_blocks_per_sequence = stride;
    host_indices_.clear();
    batch_.token_ids = pack_indices(batch.token_ids);
    batch_.positions = pack_indices(batch.positions);
    batch_.sequence_ids = pack_indices(batch.sequence_ids);
    batch_.kv_slots = pack_indices(batch.kv_slots);
    batch_.block_tables = pack_indices(padded_tables(batch, stride));
    if (tokens_per_tile_ != 0) pack_tiles();
    upload_packed(0);
}

const std::int32_t* CudaBackend::pack_indices(std::span<const std::int32_t> indices) {
    const std::size_t place = host_indices_.size();
    host_indices_.insert(host_indices_.end(), indices.begin(), indices.end());
    host_indices_.resize(padded(host_indices_.size()));
    assert(host_indices_.size() * sizeof(std::int32_t) <= indices_.size_bytes());
    return static_cast<const std::int32_t*>(indices_.data()) + place;
}

void CudaBackend::pack_tiles() {
    std::vector<std::int32_t> numbers;
    for (const AttentionTile& tile : attention_tiles(query_starts_, tokens_per_tile_)) {
        numbers.insert(numbers.end(), {tile.first_token, tile.num_tokens});
    }
    batch_.num_tiles = static_cast<std::int32_t>(numbers.size() / 2);
    batch_.tiles = reinterpret_cast<const AttentionTile*>(pack_indices(numbers));
}

void CudaBackend::upload_packed(std::size_t first) {
    const std::span<const std::int32_t> packed = std::span(host_indices_).subspan(first);
    staging_.upload(static_cast<std::int32_t*>(indices_.data()) + first, packed.data(), packed.size_bytes());
}

const std::int32_t* CudaBackend::upload_row_ids(std::span<const std::int32_t> rows) {
    if ((row_ids_used_ + padded(rows.size())) * sizeof(std::int32_t) > row_ids_.size_bytes()) {
        flush();  // whatever still reads the first ones is on the stream now, before what overwrites them
        row_ids_used_ = 0;
        if (rows.size_bytes() > row_ids_.size_bytes()) {
            check(cudaStreamSynchronize(stream_), "waiting for the device");
            row_ids_ = {};
            row_ids_ = DeviceMemory(2 * padded(rows.size()) * sizeof(std::int32_t));
        }
    }
    std::int32_t* place = static_cast<std::int32_t*>(row_ids_.data()) + row_ids_used_;
    row_ids_used_ += padded(rows.size());
    staging_.upload(place, rows.data(), rows.size_bytes());
    return place;
}

/// Tiles depend on the heads, which the first begin_forward does not know yet; later ones upload them with
/// the rest.
void CudaBackend::prepare_tiles(const AttentionShape& shape) {
    const std::int32_t tokens_per_tile = attention_tokens_per_tile(shape);
    if (tokens_per_tile == tokens_per_tile_) return;
    tokens_per_tile_ = tokens_per_tile;
    const std::size_t first = host_indices_.size();
    pack_tiles();
    upload_packed(first);
}

void CudaBackend::flush() {
    activate();
    record_pending();
    if (recorder_.empty()) return;
    recorder_.flush(replays_);
    replays_ = false;
}

void CudaBackend::record_pending() {
    if (pending_linear_) {
        const LinearArguments arguments = *pending_linear_;
        pending_linear_.reset();
        record_linear(arguments);
    }
    if (pending_gather_) {
        const Gather gather = *pending_gather_;
        pending_gather_.reset();
        recorder_.add("gathering rows",
                      {kGatherRows, key(gather.x), key(gather.row_ids), key(gather.y),
                       key(std::int64_t{gather.rows}), key(std::int64_t{gather.cols})},
                      [gather](cudaStream_t stream) {
                          return cuda::gather_rows(gather.x, gather.row_ids, gather.y, gather.rows,
                                                   gather.cols, stream);
                      });
    }
}

void CudaBackend::embedding(const LinearWeight& table, [[maybe_unused]] const RaggedBatch& batch,
                            Tensor hidden_states) {
    assert(hidden_states.rows == batch.num_tokens() && hidden_states.cols == table.in_features);
    record_pending();
    recorder_.add("the embedding",
                  {kEmbedding, key(table.data), key(hidden_states.data), key(batch_.token_ids),
                   key(std::int64_t{batch_.num_tokens})},
                  [view = view_of(table), device_batch = batch_, y = hidden_states.as_float()](
                      cudaStream_t stream) { return cuda::embedding(view, device_batch, y, stream); });
}

void CudaBackend::rms_norm(Tensor x, const float* weight, float eps, Tensor y) {
    assert(x.rows == y.rows && x.cols == y.cols);
    const auto rows = static_cast<std::int32_t>(x.rows);
    const auto cols = static_cast<std::int32_t>(x.cols);
    const float* source = x.as_float();
    const std::int32_t* row_ids = nullptr;
    if (pending_gather_ && pending_gather_->y == x.data && y.data == x.data &&
        pending_gather_->rows == rows && pending_gather_->x != pending_gather_->y) {
        source = pending_gather_->x;
        row_ids = pending_gather_->row_ids;
        pending_gather_.reset();
    }
    record_pending();
    recorder_.add(
        "a norm",
        {kRmsNorm, key(source), key(row_ids), key(weight), key(eps), key(y.data), key(x.rows), key(x.cols)},
        [=, out = y.as_float()](cudaStream_t stream) {
            return cuda::rms_norm(source, row_ids, weight, eps, out, rows, cols, stream);
        });
}

void CudaBackend::add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) {
    assert(residual.rows == y.rows && residual.cols == y.cols && delta.rows == y.rows &&
           delta.cols == y.cols);
    record_pending();
    recorder_.add("a norm",
                  {kAddRmsNorm, key(residual.data), key(delta.data), key(weight), key(eps), key(y.data),
                   key(y.rows), key(y.cols)},
                  [=](cudaStream_t stream) {
                      return cuda::add_rms_norm(residual.as_float(), delta.as_float(), weight, eps,
                                                y.as_float(), static_cast<std::int32_t>(y.rows),
                                                static_cast<std::int32_t>(y.cols), stream);
                  });
}

void CudaBackend::add(Tensor residual, Tensor delta) {
    assert(residual.rows == delta.rows && residual.cols == delta.cols);
    record_pending();
    const std::int64_t count = residual.rows * residual.cols;
    recorder_.add(
        "an addition", {kAdd, key(residual.data), key(delta.data), key(count)},
        [=](cudaStream_t stream) { return cuda::add(residual.as_float(), delta.as_float(), count, stream); });
}

void CudaBackend::linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) {
    assert(x.rows == y.rows && x.cols == weight.in_features && y.cols == weight.out_features);
    record_pending();
    if (x.rows == 0) return;
    LinearArguments arguments;
    arguments.weight = view_of(weight);
    arguments.x = x.as_float();
    arguments.bias = bias;
    arguments.y = y.as_float();
    arguments.rows = static_cast<std::int32_t>(x.rows);
    pending_linear_ = arguments;
}

void CudaBackend::record_linear(const LinearArguments& arguments) {
    const RotaryKvArguments& rotary_kv = arguments.rotary_kv;
    recorder_.add(
        "a linear layer",
        {kLinear, key(arguments.weight.data), key(arguments.x), key(arguments.bias), key(arguments.y),
         key(std::int64_t{arguments.rows}), key(std::int64_t{arguments.weight.out_features}),
         key(std::int64_t{arguments.weight.in_features}), static_cast<std::uint64_t>(arguments.output),
         key(rotary_kv.cache.data), key(std::int64_t{rotary_kv.cache.num_blocks}),
         key(std::int64_t{rotary_kv.layer}), key(rotary_kv.rotary.cos_sin), key(rotary_kv.batch.kv_slots),
         key(rotary_kv.batch.block_tables), key(std::int64_t{rotary_kv.batch.max_blocks_per_sequence})},
        [arguments](cudaStream_t stream) { return cuda::linear(arguments, stream); });
}

void CudaBackend::rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                                  [[maybe_unused]] const RaggedBatch& batch, const KvCacheView& cache,
                                  int layer) {
    assert(qkv.rows == batch.num_tokens() && qkv.cols == shape.qkv_cols() && shape.head_dim % 2 == 0);
    assert(cache.num_kv_heads == shape.num_kv_heads && cache.head_dim == shape.head_dim);
    const RotaryKvArguments arguments{shape, rotary, batch_, cache, layer};
    if (pending_linear_ && pending_linear_->y == qkv.data && linear_can_finish(*pending_linear_)) {
        pending_linear_->output = LinearOutput::kRotaryKv;
        pending_linear_->rotary_kv = arguments;
        record_pending();
        return;
    }
    record_pending();
    recorder_.add(
        "the rotary embedding",
        {kRotaryKvWrite, key(qkv.data), key(qkv.rows), key(qkv.cols), key(cache.data),
         key(std::int64_t{cache.num_blocks}), key(std::int64_t{layer}), key(rotary.cos_sin),
         key(batch_.kv_slots), key(batch_.block_tables), key(std::int64_t{batch_.max_blocks_per_sequence})},
        [arguments, data = qkv.as_float()](cudaStream_t stream) {
            return cuda::rotary_kv_write(data, arguments, stream);
        });
}

void CudaBackend::attention(Tensor qkv, const AttentionShape& shape,
                            [[maybe_unused]] const RaggedBatch& batch, const KvCacheView& cache, int layer,
                            Tensor context) {
    assert(qkv.rows == batch.num_tokens() && qkv.cols == shape.qkv_cols());
    assert(context.rows == qkv.rows && context.cols == shape.query_cols());
    record_pending();
    prepare_tiles(shape);
    AttentionArguments arguments{qkv.as_float(), context.as_float(), shape, batch_, cache, layer};
    arguments.partials = static_cast<float*>(partials_.data());
    const bool on_tensor_cores = attention_mma_supports(shape, cache);
    if (on_tensor_cores) arguments.num_splits = num_splits_for(shape, batch_, cache, num_multiprocessors_);
    recorder_.add("attention",
                  {kAttention, key(arguments.qkv), key(arguments.context), key(cache.data),
                   key(std::int64_t{cache.num_blocks}), key(std::int64_t{layer}),
                   key(std::int64_t{arguments.num_splits}), key(std::int64_t{batch_.num_tokens}),
                   key(std::int64_t{batch_.num_tiles}), key(batch_.tiles), key(batch_.block_tables),
                   key(std::int64_t{batch_.max_blocks_per_sequence})},
                  [arguments, on_tensor_cores](cudaStream_t stream) {
                      return on_tensor_cores ? attention_mma(arguments, stream)
                                             : attention_generic(arguments, stream);
                  });
}

void CudaBackend::swiglu(Tensor gate_up, Tensor y) {
    assert(gate_up.rows == y.rows && gate_up.cols == 2 * y.cols);
    if (pending_linear_ && pending_linear_->y == gate_up.data && pending_linear_->bias == nullptr &&
        linear_can_finish(*pending_linear_)) {
        pending_linear_->output = LinearOutput::kSwiglu;
        pending_linear_->y = y.as_float();
        record_pending();
        return;
    }
    record_pending();
    recorder_.add("SwiGLU", {kSwiglu, key(gate_up.data), key(y.data), key(y.rows), key(y.cols)},
                  [=](cudaStream_t stream) {
                      return cuda::swiglu(gate_up.as_float(), y.as_float(), static_cast<std::int32_t>(y.rows),
                                          static_cast<std::int32_t>(y.cols), stream);
                  });
}

void CudaBackend::gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) {
    assert(y.rows == static_cast<std::int64_t>(rows.size()) && x.cols == y.cols);
    record_pending();
    const std::int32_t* row_ids = upload_row_ids(rows);
    pending_gather_ = Gather{x.as_float(), row_ids, y.as_float(), static_cast<std::int32_t>(y.rows),
                             static_cast<std::int32_t>(y.cols)};
}

void CudaBackend::write_prefix_kv(const KvCacheView& cache, int layer,
                                  std::span<const std::int32_t> block_table, const float* keys,
                                  const float* values, std::int32_t num_slots) {
    flush();
    const std::size_t bytes =
        element_bytes(ElementType::kFloat32, std::int64_t{num_slots} * cache.num_kv_heads * cache.head_dim);
    const DeviceMemory table(block_table.size_bytes());
    const DeviceMemory device_keys(bytes);
    const DeviceMemory device_values(bytes);
    staging_.upload(table.data(), block_table.data(), block_table.size_bytes());
    staging_.upload(device_keys.data(), keys, bytes);
    staging_.upload(device_values.data(), values, bytes);
    check(cuda::write_prefix_kv(cache, layer, static_cast<const std::int32_t*>(table.data()),
                                static_cast<const float*>(device_keys.data()),
                                static_cast<const float*>(device_values.data()), num_slots, stream_),
          "writing the prefix");
    check(cudaStreamSynchronize(stream_), "writing the prefix");  // the copies above end here
}

}  // namespace glmchat::kernels::cuda
