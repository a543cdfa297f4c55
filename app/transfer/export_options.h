#pragma once

#include <QString>
#include <QTimeZone>
#include <optional>

namespace glmchat {

enum class ExportFormat { Markdown, Json, Html, Pdf, PlainText };

/// "md", "json", "html", "pdf", "txt": also the ending of the file's name.
QString formatName(ExportFormat format);
std::optional<ExportFormat> formatFromName(const QString& name);

/// Words that glmchat itself writes into a file. English unless the window gives others.
struct ExportWords {
    QString user = QStringLiteral("You");
    QString assistant = QStringLiteral("Assistant");
    QString systemPrompt = QStringLiteral("System prompt");
    QString untitled = QStringLiteral("Conversation");
    QString contents = QStringLiteral("Contents");
    QString created = QStringLiteral("Created");
    QString changed = QStringLiteral("Changed");
    QString folder = QStringLiteral("Folder");
    QString exportedBy = QStringLiteral("Exported by");
    QString model = QStringLiteral("Model");
    QString stopped = QStringLiteral("stopped");
    QString failed = QStringLiteral("failed");
    QString cut = QStringLiteral("cut off");
    QString version = QStringLiteral("version %1 of %2, follows #%3");
    QString firstVersion = QStringLiteral("version %1 of %2");
    QString page = QStringLiteral("%1 / %2");
};

/// For the formats that people read; JSON always holds everything.
struct ExportOptions {
    bool allBranches = false;  ///< else the active path
    bool metadata = true;      ///< times, model, sampling values, token counts
    bool systemPrompt = true;
    QString appVersion;
    QTimeZone timeZone = QTimeZone::systemTimeZone();
    QString language = QStringLiteral("en");  ///< of `words`, for HTML readers
    ExportWords words;
};

}  // namespace glmchat
