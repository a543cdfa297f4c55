#include "tests/app/transfer/sample_conversations.h"

#include <array>

namespace glmchat::test {
namespace {

bool chance(std::mt19937& random, unsigned percent) {
    return random() % 100 < percent;
}

qsizetype below(std::mt19937& random, qsizetype limit) {
    return static_cast<qsizetype>(random() % static_cast<std::uint32_t>(limit));
}

qint64 anyNumber(std::mt19937& random) {
    const auto high = static_cast<quint64>(random()) << 32;
    return static_cast<qint64>(high | random());
}

std::optional<qint64> maybeInteger(std::mt19937& random) {
    return chance(random, 50) ? std::optional(anyNumber(random)) : std::nullopt;
}

std::optional<double> maybeDouble(std::mt19937& random) {
    constexpr std::array kOdd{0.0, -0.0, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -1e22};
    if (chance(random, 50)) return std::nullopt;
    return kOdd[static_cast<std::size_t>(below(random, kOdd.size()))];
}

JsonNode anyNode(std::mt19937& random, int depth) {
    switch (below(random, depth > 2 ? 4 : 6)) {
        case 0:
            return JsonNode();
        case 1:
            return JsonNode(chance(random, 50));
        case 2:
            return JsonNode(JsonNode::Number{"-12.500E+03"});
        case 3:
            return JsonNode(oddText(random));
        case 4:
            return JsonNode(JsonArray{anyNode(random, depth + 1), anyNode(random, depth + 1)});
        default:
            return JsonNode(JsonObject{{oddText(random), anyNode(random, depth + 1)}});
    }
}

JsonObject unknownMembers(std::mt19937& random) {
    JsonObject members;
    if (chance(random, 20)) members.push_back({QStringLiteral("of_a_newer_version"), anyNode(random, 0)});
    if (chance(random, 10))
        members.push_back({QStringLiteral("status"), JsonNode(QStringLiteral("dreaming"))});
    return members;
}

AnswerFacts randomAnswer(std::mt19937& random) {
    AnswerFacts facts;
    facts.modelName = oddText(random);
    if (chance(random, 50)) facts.modelHash = QStringLiteral("sha256:00ff");
    facts.precision = QStringLiteral("int4");
    facts.device = QStringLiteral("CPU");
    facts.sampling = {maybeDouble(random),  maybeDouble(random), maybeInteger(random), maybeDouble(random),
                      maybeDouble(random),  maybeDouble(random), maybeDouble(random),  maybeInteger(random),
                      maybeInteger(random), maybeInteger(random)};
    facts.numPromptTokens = maybeInteger(random);
    facts.numReusedTokens = maybeInteger(random);
    facts.numNewTokens = maybeInteger(random);
    facts.numDroppedRounds = maybeInteger(random);
    facts.firstTokenMs = maybeDouble(random);
    facts.decodeMs = maybeDouble(random);
    facts.tokensPerSecond = maybeDouble(random);
    if (chance(random, 50)) facts.stopReason = QStringLiteral("end_of_text");
    if (chance(random, 20)) facts.unknown.push_back({QStringLiteral("entropy"), anyNode(random, 0)});
    return facts;
}

MessageDocument message(const QString& id, const QString& parentId, DocumentRole role, const QString& text) {
    MessageDocument document;
    document.id = id;
    document.parentId = parentId;
    document.role = role;
    document.text = text;
    document.createdMs = document.changedMs = 1780000000000;
    return document;
}

AnswerFacts sampleAnswer() {
    AnswerFacts facts;
    facts.modelName = QStringLiteral("ChatGLM2-6B");
    facts.modelHash = QStringLiteral("sha256:0123abcd");
    facts.precision = QStringLiteral("int4");
    facts.device = QStringLiteral("CPU");
    facts.sampling.temperature = 0.95;
    facts.sampling.topP = 0.8;
    facts.sampling.topK = 50;
    facts.sampling.repetitionPenalty = 1.1;
    facts.sampling.maxNewTokens = 2048;
    facts.sampling.contextSize = 8192;
    facts.sampling.seed = 9007199254740993;  // not a double
    facts.numPromptTokens = 21;
    facts.numNewTokens = 187;
    facts.firstTokenMs = 210.5;
    facts.decodeMs = 4400;
    facts.tokensPerSecond = 42.27;
    facts.stopReason = QStringLiteral("end_of_text");
    return facts;
}

const QString kAnswer = QStringLiteral(R"(# 安装

先看 *目录* 与 `a<b`，再运行：

```sh
for f in *.txt; do
    echo "$f"   # 注释
done
```

| 列 | 数 |
| --- | ---: |
| 一 | 1 |

1. [链接](https://example.org/?a=1&b=2)
2. ![图](https://example.org/x.png)
3. <script>alert(1)</script> & [坏](javascript:alert(1))
)");

}  // namespace

ConversationDocument sampleConversation() {
    ConversationDocument conversation;
    conversation.id = QStringLiteral("c1");
    conversation.title = QStringLiteral("关于 *安装* <b>与</b> #1");
    conversation.titleSource = DocumentTitleSource::User;
    conversation.folder = QStringLiteral("工作");
    conversation.systemPrompt = QStringLiteral("你是助手。\n## 规则\n简短。");
    conversation.draft = QStringLiteral("还没写完");
    conversation.pinned = true;
    conversation.createdMs = 1780000000000;
    conversation.changedMs = 1780000360000;
    MessageDocument first = message("m1", {}, DocumentRole::User, QStringLiteral("怎么装？"));
    first.active = false;
    MessageDocument firstAnswer = message("m2", "m1", DocumentRole::Assistant, QStringLiteral("哪个系统？"));
    firstAnswer.answer = sampleAnswer();
    const MessageDocument second = message("m3", {}, DocumentRole::User,
                                           QStringLiteral("在 Debian 上怎么装？\n<smirk> a<b && c>d &lt;"));
    MessageDocument answer = message("m4", "m3", DocumentRole::Assistant, kAnswer);
    answer.answer = sampleAnswer();
    const MessageDocument more =
        message("m5", "m4", DocumentRole::User, QStringLiteral("```\n没有结尾的代码"));
    MessageDocument stopped = message("m6", "m5", DocumentRole::Assistant,
                                      QStringLiteral("好的，مرحبا 👩‍👩‍👧"));
    stopped.status = DocumentStatus::Stopped;
    MessageDocument deleted = message("m7", "m6", DocumentRole::User, QStringLiteral("删掉的话"));
    deleted.deletedMs = 1780000400000;
    conversation.messages = {first, firstAnswer, second, answer, more, stopped, deleted};
    return conversation;
}

QString oddText(std::mt19937& random) {
    static const std::array kPieces{
        QString(QChar(0)),
        QStringLiteral("\x01\x1b[31m\x7f\b\f"),
        QString(QChar(0xD800)),
        QString(QChar(0xDC00)) + QChar(0xD83D),
        QString(QChar(0xFEFF)),
        QString(QChar(0xFFFF)) + QChar(0x2028),
        QStringLiteral("مرحبا (hello) 123! \u202Eabc"),
        QStringLiteral("👩‍👩‍👧😀"),
        QStringLiteral("\r\n"),
        QStringLiteral("\r"),
        QStringLiteral("\n"),
        QStringLiteral("\n````\n```\nfence in fence\n```\n````\n"),
        QStringLiteral("\n```c++\nnever closed"),
        QStringLiteral("\n~~~~\n"),
        QStringLiteral("\n# heading\n"),
        QStringLiteral("\ntitle\n=====\n"),
        QStringLiteral("\ntwo\nlines\n---\n"),
        QStringLiteral("\n- a\n  ```\n# x\n"),
        QStringLiteral("\n<!-- never closed\n"),
        QStringLiteral("\n<details><summary>x"),
        QStringLiteral("<script>alert(1)</script><img src=http://127.0.0.1:9/x onerror=alert(1)>"),
        QStringLiteral("![p](http://127.0.0.1:9/p.png) [j](javascript:alert(1))"),
        QStringLiteral("\n[You]: http://127.0.0.1:9/\n"),
        QStringLiteral("\\\"/\t"),
        QStringLiteral("你好，世界。"),
        QStringLiteral("\n\n    indented\n"),
        QStringLiteral("\n> quote\nlazy"),
        QStringLiteral("|a|b|\n|-|-|\n|c|"),
    };
    QString text;
    for (qsizetype i = below(random, 12); i > 0; --i) {
        text += kPieces[static_cast<std::size_t>(below(random, kPieces.size()))];
    }
    return text;
}

ConversationDocument randomConversation(std::mt19937& random) {
    ConversationDocument conversation;
    conversation.id = QStringLiteral("c%1").arg(random());
    conversation.title = oddText(random);
    conversation.titleSource = static_cast<DocumentTitleSource>(below(random, 3));
    conversation.folder = oddText(random);
    conversation.systemPrompt = oddText(random);
    conversation.draft = oddText(random);
    conversation.pinned = chance(random, 30);
    conversation.createdMs = anyNumber(random);
    conversation.changedMs = anyNumber(random);
    conversation.deletedMs = chance(random, 30) ? anyNumber(random) : 0;
    if (chance(random, 20)) conversation.unknown.push_back({QStringLiteral("colour"), anyNode(random, 0)});
    for (qsizetype i = below(random, 10); i > 0; --i) {
        const qsizetype size = conversation.messages.size();
        const qsizetype parent = below(random, size + 1) - 1;
        MessageDocument document = message(QStringLiteral("m%1").arg(size) + QChar(0xD800),
                                           parent < 0 ? QString() : conversation.messages[parent].id,
                                           static_cast<DocumentRole>(below(random, 2)), oddText(random));
        document.pinned = chance(random, 20);
        document.deletedMs = chance(random, 10) ? anyNumber(random) : 0;
        document.unknown = unknownMembers(random);
        if (!findMember(document.unknown, u"status"))
            document.status = static_cast<DocumentStatus>(below(random, 4));
        if (chance(random, 60)) document.answer = randomAnswer(random);
        conversation.messages << document;
    }
    repairTree(conversation);  // one active sibling in each place
    return conversation;
}

}  // namespace glmchat::test
