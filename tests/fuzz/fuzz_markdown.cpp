#include <QString>
#include <QStringView>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "app/markdown/markdown_stream.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

/// In pieces of `length` characters; blocks that are final stay as they are.
std::vector<glmchat::markdown::Block> blocksOf(QStringView text, qsizetype length) {
    glmchat::markdown::MarkdownStream stream;
    std::size_t numFinal = 0;
    for (qsizetype at = 0; at < text.size(); at += length) {
        stream.append(text.mid(at, length));
        require(stream.numFinal() >= numFinal && stream.numFinal() <= stream.blocks().size());
        numFinal = stream.numFinal();
    }
    stream.finish();
    return stream.blocks();
}

}  // namespace

/// The first byte says how long the pieces are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const QString text =
        QString::fromUtf8(reinterpret_cast<const char*>(data + 1), static_cast<qsizetype>(size - 1));
    for (const auto& block : blocksOf(text, 1 + data[0] % 16)) require(block.level >= 0 && block.level <= 6);
    return 0;
}
