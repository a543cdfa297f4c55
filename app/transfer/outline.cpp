#include "app/transfer/outline.h"

#include <QDateTime>
#include <QStringList>
#include <array>

namespace glmchat {
namespace {

constexpr QStringView kSeparator = u" · ";

QString timeText(qint64 ms, const QTimeZone& zone) {
    if (ms == 0) return {};
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(ms, zone);
    const int offsetMinutes = time.offsetFromUtc() / 60;
    const QString date = time.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")) + QStringLiteral(" UTC");
    if (offsetMinutes == 0) return date;
    const int magnitude = std::abs(offsetMinutes);
    return date + QStringLiteral("%1%2:%3")
                      .arg(offsetMinutes < 0 ? u'-' : u'+')
                      .arg(magnitude / 60, 2, 10, QLatin1Char('0'))
                      .arg(magnitude % 60, 2, 10, QLatin1Char('0'));
}

template <typename Number>
void addValue(QStringList& parts, QStringView name, const std::optional<Number>& value) {
    if (value) parts << name.toString() + u' ' + numberText(static_cast<double>(*value));
}

void addValue(QStringList& parts, QStringView name, const std::optional<qint64>& value) {
    if (value) parts << name.toString() + u' ' + QString::number(*value);
}

void addText(QStringList& parts, const QString& text) {
    if (!text.isEmpty()) parts << text;
}

QString modelText(const AnswerFacts& facts) {
    QStringList how;
    addText(how, facts.precision);
    addText(how, facts.device);
    if (!facts.modelHash.isEmpty()) how << QStringLiteral("hash ") + facts.modelHash;
    if (how.isEmpty()) return facts.modelName;
    return facts.modelName + QStringLiteral(" (") + how.join(QStringLiteral(", ")) + u')';
}

void addAnswer(QStringList& parts, const AnswerFacts& facts) {
    addText(parts, modelText(facts));
    const SamplingValues& sampling = facts.sampling;
    addValue(parts, u"temperature", sampling.temperature);
    addValue(parts, u"top_p", sampling.topP);
    addValue(parts, u"top_k", sampling.topK);
    addValue(parts, u"min_p", sampling.minP);
    addValue(parts, u"repetition_penalty", sampling.repetitionPenalty);
    addValue(parts, u"presence_penalty", sampling.presencePenalty);
    addValue(parts, u"frequency_penalty", sampling.frequencyPenalty);
    addValue(parts, u"max_new_tokens", sampling.maxNewTokens);
    addValue(parts, u"context_size", sampling.contextSize);
    addValue(parts, u"seed", sampling.seed);
    addValue(parts, u"prompt_tokens", facts.numPromptTokens);
    addValue(parts, u"new_tokens", facts.numNewTokens);
    addValue(parts, u"dropped_rounds", facts.numDroppedRounds);
    addValue(parts, u"tokens/s", facts.tokensPerSecond);
    if (!facts.stopReason.isEmpty()) parts << QStringLiteral("stop ") + facts.stopReason;
}

QString factsOf(const MessageDocument& message, const ExportOptions& options) {
    QStringList parts;
    addText(parts, timeText(message.createdMs, options.timeZone));
    if (message.answer) addAnswer(parts, *message.answer);
    return cleanText(parts.join(kSeparator)).replace(u'\n', u' ');
}

QString statusWord(DocumentStatus status, const ExportWords& words) {
    switch (status) {
        case DocumentStatus::Complete:
            return {};
        case DocumentStatus::Stopped:
            return words.stopped;
        case DocumentStatus::Failed:
            return words.failed;
        case DocumentStatus::Cut:
            return words.cut;
    }
    return {};
}

/// "You", "Assistant (stopped)"; numbered and with its place among the versions when all branches are shown.
QString headingOf(const MessageDocument& message, qsizetype row, const SiblingPlace& place,
                  const ExportOptions& options) {
    const ExportWords& words = options.words;
    const QString author = message.role == DocumentRole::User ? words.user : words.assistant;
    QStringList notes;
    if (options.allBranches && place.count > 1) {
        notes << (place.parent < 0
                      ? words.firstVersion.arg(place.index + 1).arg(place.count)
                      : words.version.arg(place.index + 1).arg(place.count).arg(place.parent + 1));
    }
    addText(notes, statusWord(message.status, words));
    const QString number = options.allBranches ? QStringLiteral("#%1 ").arg(row + 1) : QString();
    return number + author +
           (notes.isEmpty() ? QString() : QStringLiteral(" (") + notes.join(QStringLiteral("; ")) + u')');
}

QList<Outline::Fact> conversationFacts(const ConversationDocument& conversation,
                                       const ExportOptions& options) {
    const ExportWords& words = options.words;
    const std::array<Outline::Fact, 4> all{
        {{words.created, timeText(conversation.createdMs, options.timeZone)},
         {words.changed, timeText(conversation.changedMs, options.timeZone)},
         {words.folder, cleanText(conversation.folder).simplified()},
         {words.exportedBy,
          options.appVersion.isEmpty() ? QString() : QStringLiteral("glmchat ") + options.appVersion}}};
    QList<Outline::Fact> facts;
    for (const Outline::Fact& fact : all) {
        if (!fact.value.isEmpty()) facts << fact;
    }
    return facts;
}

QList<qsizetype> shownRows(const ConversationDocument& conversation, bool allBranches) {
    if (!allBranches) return activePath(conversation);
    QList<qsizetype> rows(conversation.messages.size());
    for (qsizetype row = 0; row < rows.size(); ++row) rows[row] = row;
    return rows;
}

bool isControl(char16_t unit) {
    return (unit < 0x20 && unit != u'\n' && unit != u'\t') || unit == 0x7F;
}

QChar pictureOf(char16_t control) {
    constexpr char16_t kPictures = 0x2400;
    constexpr char16_t kPictureOfDelete = 0x2421;
    return control == 0x7F ? QChar(kPictureOfDelete) : QChar(static_cast<char16_t>(kPictures + control));
}

}  // namespace

Outline outlineOf(const ConversationDocument& conversation, const ExportOptions& options) {
    Outline outline;
    outline.title = cleanText(conversation.title).simplified();
    if (outline.title.isEmpty()) outline.title = options.words.untitled;
    if (options.metadata) outline.facts = conversationFacts(conversation, options);
    if (options.systemPrompt) outline.systemPrompt = conversation.systemPrompt;
    const QList<SiblingPlace> places = siblingPlaces(conversation);
    for (const qsizetype row : shownRows(conversation, options.allBranches)) {
        const MessageDocument& message = conversation.messages[row];
        if (message.deletedMs != 0) continue;
        outline.messages << Outline::Message{message.role, headingOf(message, row, places[row], options),
                                             options.metadata ? factsOf(message, options) : QString(),
                                             message.text};
    }
    return outline;
}

QString cleanText(QStringView text) {
    QString clean;
    clean.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar unit = text[i];
        const bool hasNext = i + 1 < text.size();
        if (unit == u'\r') {
            if (!hasNext || text[i + 1] != u'\n') clean += u'\n';
        } else if (isControl(unit.unicode())) {
            clean += pictureOf(unit.unicode());
        } else if (unit.isHighSurrogate() && hasNext && text[i + 1].isLowSurrogate()) {
            clean += unit;
            clean += text[++i];
        } else {
            clean += unit.isSurrogate() ? QChar(QChar::ReplacementCharacter) : unit;
        }
    }
    return clean;
}

QString numberText(double value) {
    return QString::number(value, 'g', 7);
}

}  // namespace glmchat
