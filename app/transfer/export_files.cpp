#include "app/transfer/export_files.h"

#include <QDir>
#include <QSaveFile>
#include <algorithm>
#include <array>

#include "app/transfer/document_json.h"
#include "app/transfer/export_html.h"
#include "app/transfer/export_text.h"
#include "app/transfer/file_names.h"

namespace glmchat {
namespace {

using Kind = TransferError::Kind;

struct FormatName {
    ExportFormat format;
    QStringView name;
};
constexpr std::array kFormats{FormatName{ExportFormat::Markdown, u"md"},
                              FormatName{ExportFormat::Json, u"json"},
                              FormatName{ExportFormat::Html, u"html"}, FormatName{ExportFormat::Pdf, u"pdf"},
                              FormatName{ExportFormat::PlainText, u"txt"}};

tl::unexpected<TransferError> failure(Kind kind, const QString& path, const QString& message) {
    return tl::unexpected(TransferError{kind, path, QDir::toNativeSeparators(path) + u' ' + message});
}

tl::unexpected<TransferError> writeFailure(const QSaveFile& file) {
    return failure(
        Kind::CannotWrite, file.fileName(),
        QStringLiteral("could not be written: ") + file.errorString() +
            QStringLiteral(". Free some space, check the folder's permissions, or choose another folder. "
                           "No half file was left."));
}

QSet<QString> namesIn(const QDir& folder) {
    QSet<QString> names;
    for (const QString& name : folder.entryList(QDir::AllEntries | QDir::Hidden | QDir::System)) {
        names.insert(name.toLower());
    }
    return names;
}

}  // namespace

QString formatName(ExportFormat format) {
    const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                    [format](const FormatName& entry) { return entry.format == format; });
    return found->name.toString();
}

std::optional<ExportFormat> formatFromName(const QString& name) {
    for (const FormatName& entry : kFormats) {
        if (entry.name.compare(name, Qt::CaseInsensitive) == 0) return entry.format;
    }
    return std::nullopt;
}

QByteArray render(std::span<const ConversationDocument> conversations, ExportFormat format,
                  const ExportOptions& options) {
    switch (format) {
        case ExportFormat::Markdown:
            return toMarkdown(conversations, options);
        case ExportFormat::Json:
            return toJson(conversations, options.appVersion);
        case ExportFormat::Html:
            return toHtml(conversations, options);
        case ExportFormat::Pdf:
            return toPdf(conversations, options);
        case ExportFormat::PlainText:
            return toPlainText(conversations, options);
    }
    return {};
}

tl::expected<void, TransferError> writeFile(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        return writeFailure(file);
    }
    return {};
}

tl::expected<void, TransferError> exportToFile(std::span<const ConversationDocument> conversations,
                                               ExportFormat format, const ExportOptions& options,
                                               const QString& path) {
    const QByteArray bytes = render(conversations, format, options);
    if (bytes.isEmpty()) {
        return failure(Kind::CannotDraw, path,
                       QStringLiteral("could not be drawn. Export as HTML and print that from a browser."));
    }
    return writeFile(path, bytes);
}

tl::expected<QStringList, TransferError> exportToFolder(std::span<const ConversationDocument> conversations,
                                                        ExportFormat format, const ExportOptions& options,
                                                        const QString& folder, std::stop_token stop,
                                                        const TransferProgress& progress) {
    if (!QDir().mkpath(folder)) {
        return failure(
            Kind::CannotMakeFolder, folder,
            QStringLiteral("cannot be made. Check that no file has this name and that the folder above may "
                           "be written, or choose another one."));
    }
    QSet<QString> taken = namesIn(QDir(folder));
    QStringList names;
    for (std::size_t i = 0; i < conversations.size(); ++i) {
        if (stop.stop_requested()) {
            return failure(
                Kind::Cancelled, folder,
                QStringLiteral("holds the first %1 conversations; the export was cancelled.").arg(i));
        }
        const QString name = uniqueFileName(safeFileName(conversations[i].title), formatName(format), taken);
        const auto written =
            exportToFile(conversations.subspan(i, 1), format, options, QDir(folder).filePath(name));
        if (!written) return tl::unexpected(written.error());
        names << name;
        if (progress) progress(static_cast<qint64>(i + 1), static_cast<qint64>(conversations.size()));
    }
    return names;
}

}  // namespace glmchat
