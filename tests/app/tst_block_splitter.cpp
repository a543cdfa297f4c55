#include <QAbstractItemModelTester>
#include <QtTest>

#include "app/chat/block_model.h"
#include "app/chat/block_splitter.h"

using namespace glmchat;

namespace {

QString sourceOf(const BlockSplitter& splitter, std::size_t block) {
    const auto& blocks = splitter.blocks();
    const qsizetype end =
        block + 1 < blocks.size() ? blocks[block + 1].sourceBegin : splitter.source().size();
    return splitter.source().mid(blocks[block].sourceBegin, end - blocks[block].sourceBegin);
}

/// "P:text", "C[language]:text", with "+" before a block that continues a paragraph.
QStringList summary(const std::vector<TextBlock>& blocks) {
    QStringList lines;
    for (const TextBlock& block : blocks) {
        const QString head = block.kind == BlockKind::Code ? QStringLiteral("C[%1]:").arg(block.language)
                                                           : QStringLiteral("P:");
        lines << (block.continued ? QStringLiteral("+") : QString()) + head + block.text;
    }
    return lines;
}

std::vector<TextBlock> blocksOf(const QString& text) {
    BlockSplitter splitter;
    splitter.append(text);
    splitter.finish();
    return splitter.blocks();
}

bool sameBlock(const TextBlock& a, const TextBlock& b) {
    return a.kind == b.kind && a.text == b.text && a.language == b.language &&
           a.sourceBegin == b.sourceBegin && a.continued == b.continued && a.open == b.open;
}

void addTexts() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* name, const char16_t* text, const QStringList& expected) {
        QTest::newRow(name) << QString::fromUtf16(text) << expected;
    };
    row("empty", u"", {});
    row("white space", u" \n\n \t\n", {});
    row("one paragraph", u"你好，世界！", {"P:你好，世界！"});
    row("line breaks stay", u"a\n  b\nc", {"P:a\n  b\nc"});
    row("blank lines separate", u"\n\na\n\n \nb\n\n", {"P:a", "P:b"});
    row("html is text", u"<b>x</b> &lt; <img src=x>", {"P:<b>x</b> &lt; <img src=x>"});
    row("code", u"see\n```python\nprint(1)\n\n  x = 2\n```\nend",
        {"P:see", "C[python]:print(1)\n\n  x = 2", "P:end"});
    row("code ends with blank line", u"```\na\n\n```", {"C[]:a\n"});
    row("tildes, longer fence", u"~~~~ c++ extra\n```\n~~~\n~~~~\nx", {"C[c++]:```\n~~~", "P:x"});
    row("never closed", u"```js\nlet a;\n", {"C[js]:let a;"});
    row("closing fence without line feed", u"```\na\n```", {"C[]:a"});
    row("fence alone at the end", u"a\n```", {"P:a", "C[]:"});
    row("inline fences are prose", u"```not code``` and more", {"P:```not code``` and more"});
    row("two backticks", u"``x``\ny", {"P:``x``\ny"});
    row("four spaces are no fence", u"    ```\nx", {"P:    ```\nx"});
    row("indented fence", u"  ```\n  a\n    b\n c\n  ```\n", {"C[]:a\n  b\nc"});
    row("backticks in code", u"```\n`a`\n``\n```x\n```\n", {"C[]:`a`\n``\n```x"});
    row("carriage returns", u"a\r\nb\r\n\r\n```c\r\nint x;\r\n```\r\nd", {"P:a\nb", "C[c]:int x;", "P:d"});
    row("emoji", u"👍🏽\n\n```\n😀\n```\n", {"P:👍🏽", "C[]:😀"});
    row("arabic", u"مرحبا (hello) 123!\n\nمرة", {"P:مرحبا (hello) 123!", "P:مرة"});
    row("code right after code", u"```a\n1\n```\n```b\n2\n```", {"C[a]:1", "C[b]:2"});
    row("long info is prose",
        u"``` xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ny",
        {"P:``` xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ny"});
}

}  // namespace

class TestBlockSplitter : public QObject {
    Q_OBJECT

  private slots:
    void wholeText_data() { addTexts(); }
    void wholeText() {
        QFETCH(QString, text);
        QFETCH(QStringList, expected);
        QCOMPARE(summary(blocksOf(text)), expected);
    }

    void everyPrefix_data() { addTexts(); }
    /// Character by character: the sources are the text, blocks before the last never change, the last one's
    /// text only grows, and in the end it is as if the text had come at once.
    void everyPrefix() {
        QFETCH(QString, text);
        BlockSplitter splitter;
        std::vector<TextBlock> before;
        for (const QChar character : text) {
            splitter.append(QStringView(&character, 1));
            const auto& blocks = splitter.blocks();
            QVERIFY(blocks.size() >= before.size());
            for (std::size_t i = 0; i < before.size(); ++i) {
                if (i + 1 < before.size()) QVERIFY(sameBlock(blocks[i], before[i]));
                QVERIFY(blocks[i].text.startsWith(before[i].text));
                QCOMPARE(blocks[i].kind, before[i].kind);
            }
            QString joined;
            for (std::size_t i = 0; i < blocks.size(); ++i) joined += sourceOf(splitter, i);
            if (!blocks.empty()) QCOMPARE(joined, splitter.source());
            before = blocks;
        }
        splitter.finish();
        const auto once = blocksOf(text);
        QCOMPARE(splitter.blocks().size(), once.size());
        for (std::size_t i = 0; i < once.size(); ++i) QVERIFY(sameBlock(splitter.blocks()[i], once[i]));
    }

    void anyChunks() {
        const QString text = QStringLiteral("一二三\n\n```py\nx=1\n```\n\n四五\r\n六 ```\n~~~\nz\n~~~~\n七");
        const QStringList expected = summary(blocksOf(text));
        for (qsizetype size = 1; size <= text.size(); ++size) {
            BlockSplitter splitter;
            for (qsizetype from = 0; from < text.size(); from += size)
                splitter.append(QStringView(text).mid(from, size));
            splitter.finish();
            QCOMPARE(summary(splitter.blocks()), expected);
        }
    }

    void halfAFenceIsNotShown() {
        BlockSplitter splitter;
        splitter.append(u"text\n``");
        QCOMPARE(summary(splitter.blocks()), QStringList{"P:text"});
        splitter.append(u"`py");
        QCOMPARE(summary(splitter.blocks()), QStringList{"P:text"});
        splitter.append(u"\nx\n``");
        QCOMPARE(summary(splitter.blocks()), (QStringList{"P:text", "C[py]:x"}));
        QVERIFY(splitter.blocks().back().open);
        splitter.append(u"`\n");
        QCOMPARE(summary(splitter.blocks()), (QStringList{"P:text", "C[py]:x"}));
        QVERIFY(!splitter.blocks().back().open);
    }

    void longParagraphsAreCut_data() {
        QTest::addColumn<QString>("piece");
        QTest::newRow("chinese sentences") << QStringLiteral("这是一个很长的句子，讲了很多事情。");
        QTest::newRow("english sentences") << QStringLiteral("This is one of very many sentences. ");
        QTest::newRow("lines") << QStringLiteral("a line that has no full stop\n");
        QTest::newRow("no end at all") << QStringLiteral("字");
        QTest::newRow("pairs") << QStringLiteral("😀");
    }
    void longParagraphsAreCut() {
        QFETCH(QString, piece);
        QString text;
        while (text.size() < 20000) text += piece;
        BlockSplitter splitter;
        QString joined;
        for (const QChar character : text) splitter.append(QStringView(&character, 1));
        splitter.finish();
        const auto& blocks = splitter.blocks();
        QVERIFY(blocks.size() > 5);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            QVERIFY(blocks[i].text.size() <= BlockSplitter::kLongestParagraph + 1);
            QCOMPARE(blocks[i].continued, i > 0);
            QVERIFY(!blocks[i].text.front().isLowSurrogate());
            joined += sourceOf(splitter, i);
        }
        QCOMPARE(joined, text);
        QCOMPARE(summary(blocks), summary(blocksOf(text)));
    }

    void modelIsConsistent() {
        BlockModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
        model.append(QStringLiteral("one\n\ntwo"));
        QCOMPARE(model.rowCount(), 2);
        changes.clear();
        model.append(QStringLiteral(" more\n\n```c\nint"));
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(changes.size(), 1);
        QCOMPARE(changes[0][0].toModelIndex().row(), 1);  // only what was last
        QCOMPARE(model.data(model.index(1), BlockModel::TextRole).toString(), QStringLiteral("two more"));
        QCOMPARE(model.data(model.index(2), BlockModel::LanguageRole).toString(), QStringLiteral("c"));
        QVERIFY(model.data(model.index(2), BlockModel::OpenRole).toBool());
        model.finish();
        QVERIFY(!model.data(model.index(2), BlockModel::OpenRole).toBool());
    }
};

QTEST_APPLESS_MAIN(TestBlockSplitter)
#include "tst_block_splitter.moc"
