#include "app/transfer/import_report.h"

#include <QStringList>
#include <algorithm>

namespace glmchat {
namespace {

QString sentence(ImportReport::What what) {
    using What = ImportReport::What;
    switch (what) {
        case What::KeptField:
            return QStringLiteral("field %1 is not known to this version; kept for the next JSON export");
        case What::DroppedField:
            return QStringLiteral("field %1 was not taken over");
        case What::DroppedPart:
            return QStringLiteral("part of kind %1 was not taken over");
        case What::DroppedMessage:
            return QStringLiteral("message of kind %1 was not taken over");
        case What::EmptyMessage:
            return QStringLiteral("empty message was left out");
        case What::LaterSystemPrompt:
            return QStringLiteral("further system prompt was not taken over");
        case What::NotAConversation:
            return QStringLiteral("element is not a conversation");
        case What::NewerVersion:
            return QStringLiteral("the file has the newer version %1");
        case What::InvalidBytes:
            return QStringLiteral("bytes that are not UTF-8 were replaced");
        case What::NewId:
            return QStringLiteral("message without an id of its own got a new one");
        case What::LostParent:
            return QStringLiteral("message without a parent was put at the beginning");
        case What::MovedMessage:
            return QStringLiteral("message stood before the one it answers");
        case What::ChangedActive:
            return QStringLiteral("message was shown or hidden so that each place shows exactly one");
    }
    return {};
}

}  // namespace

void ImportReport::add(What what, const QString& name, qint64 count) {
    if (count <= 0) return;
    const auto same = [&](const Entry& entry) { return entry.what == what && entry.name == name; };
    const auto found = std::find_if(entries.begin(), entries.end(), same);
    if (found != entries.end()) {
        found->count += count;
    } else {
        entries << Entry{what, name, count};
    }
}

QStringList describe(const ImportReport& report) {
    QStringList lines;
    for (const ImportReport::Entry& entry : report.entries) {
        lines << QStringLiteral("%1 × %2")
                     .arg(entry.count)
                     .arg(
                         sentence(entry.what)
                             .replace(QLatin1String("%1"), QLatin1Char('"') + entry.name + QLatin1Char('"')));
    }
    return lines;
}

}  // namespace glmchat
