#include "app/transfer/file_names.h"

#include <QRegularExpression>
#include <QTextBoundaryFinder>

namespace glmchat {
namespace {

constexpr qsizetype kMaxBytes =
    120;  // file systems take 255; " (1234)" and the ending still fit, also in a copy

bool isForbidden(QChar character) {
    return QStringView(u"<>:\"/\\|?*").contains(character);
}

/// Controls, marks of direction, joiners, surrogates without their half, private and unassigned characters.
bool isInvisible(char32_t character) {
    switch (QChar::category(character)) {
        case QChar::Other_Control:
        case QChar::Other_Format:
        case QChar::Other_Surrogate:
        case QChar::Other_PrivateUse:
        case QChar::Other_NotAssigned:
            return true;
        default:
            return false;
    }
}

QString withoutForbidden(const QString& title) {
    QString name;
    for (const uint character : title.toUcs4()) {
        const bool isReplacement = character == QChar::ReplacementCharacter;
        if (QChar::isSpace(character)) {
            name += u' ';
        } else if (character < 0x80 && isForbidden(QChar(character))) {
            name += u'_';
        } else if (!isInvisible(character) && !isReplacement) {
            name += QString::fromUcs4(reinterpret_cast<const char32_t*>(&character), 1);
        }
    }
    return name.normalized(QString::NormalizationForm_C).simplified();
}

/// Cut between characters as people see them.
QString shortened(const QString& name) {
    if (name.toUtf8().size() <= kMaxBytes) return name;
    QTextBoundaryFinder finder(QTextBoundaryFinder::Grapheme, name);
    qsizetype end = 0;
    for (qsizetype next; (next = finder.toNextBoundary()) >= 0; end = next) {
        if (QStringView(name).first(next).toUtf8().size() > kMaxBytes) break;
    }
    return name.first(end);
}

bool isDeviceName(const QString& name) {
    static const QRegularExpression kDevices(QStringLiteral("^(con|prn|aux|nul|com[0-9]|lpt[0-9])($|[ .])"),
                                             QRegularExpression::CaseInsensitiveOption);
    return kDevices.match(name).hasMatch();
}

}  // namespace

QString safeFileName(const QString& title) {
    static const QRegularExpression kEnds(QStringLiteral("^[ .]+|[ .]+$"));
    QString name = shortened(withoutForbidden(title).remove(kEnds)).remove(kEnds);
    if (name.isEmpty()) return QStringLiteral("conversation");
    return isDeviceName(name) ? u'_' + name : name;
}

QString uniqueFileName(const QString& name, const QString& ending, QSet<QString>& taken) {
    QString candidate = name + u'.' + ending;
    for (int number = 2; taken.contains(candidate.toLower()); ++number) {
        candidate = QStringLiteral("%1 (%2).%3").arg(name).arg(number).arg(ending);
    }
    taken.insert(candidate.toLower());
    return candidate;
}

}  // namespace glmchat
