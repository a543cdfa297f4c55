#include "app/chat/answer_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

namespace glmchat {
namespace {

struct AnswerText {
    Q_DECLARE_TR_FUNCTIONS(glmchat::AnswerText)
};

QString cutText(const AnswerRecord& answer) {
    if (answer.stopReason == u"context_full") {
        return AnswerText::tr("Cut off: the context of %1 tokens is full").arg(answer.contextSize);
    }
    return AnswerText::tr("Cut off at %1 tokens").arg(answer.numNewTokens);
}

bool isRunning(MessageStatus::Value status) {
    return status == MessageStatus::Pending || status == MessageStatus::Streaming;
}

}  // namespace

QString statusText(const MessageRecord& message) {
    switch (message.status) {
        case MessageStatus::Stopped:
            return AnswerText::tr("Stopped");
        case MessageStatus::Failed:
            return AnswerText::tr("Failed");
        case MessageStatus::Cut:
            return cutText(message.answer);
        case MessageStatus::Complete:
        case MessageStatus::Pending:
        case MessageStatus::Streaming:
            return {};
    }
    return {};
}

QString captionText(const MessageRecord& message) {
    const AnswerRecord& answer = message.answer;
    if (message.author != Author::Assistant || isRunning(message.status) || answer.numNewTokens == 0)
        return {};
    const QLocale locale;
    QStringList parts;
    if (const double rate = decodeRate(answer.numNewTokens, answer.decodeMs); rate > 0) {
        parts << AnswerText::tr("%1 tokens/s").arg(locale.toString(rate, 'f', 1));
    }
    if (answer.firstTokenMs > 0) {
        parts
            << AnswerText::tr("first token %1 s").arg(locale.toString(answer.firstTokenMs / 1000.0, 'f', 2));
    }
    parts << (answer.numNewTokens == 1 ? AnswerText::tr("1 token")
                                       : AnswerText::tr("%1 tokens").arg(answer.numNewTokens));
    return parts.join(QStringLiteral(" · "));
}

double decodeRate(int numNewTokens, double decodeMs) {
    return numNewTokens > 1 && decodeMs > 0 ? (numNewTokens - 1) * 1000.0 / decodeMs : 0.0;
}

}  // namespace glmchat
