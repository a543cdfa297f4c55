#include <QRandomGenerator>
#include <QXmlStreamReader>
#include <QtTest>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include "app/markdown/markdown_stream.h"

using namespace glmchat::markdown;

namespace {

std::vector<Block> blocksOf(const QString& text) {
    MarkdownStream stream;
    stream.append(text);
    stream.finish();
    return stream.blocks();
}

/// "ql • P:text" and the like: what the oracle can say about a block too.
QString line(const QString& nesting, const QString& marker, const QString& kind, const QString& text) {
    return QStringLiteral("[%1|%2] %3:%4").arg(nesting, marker, kind, text);
}

QString kindName(const Block& block) {
    switch (block.kind) {
        case BlockKind::Paragraph:
            return QStringLiteral("P");
        case BlockKind::Heading:
            return QStringLiteral("H%1").arg(block.level);
        case BlockKind::Code:
            return QStringLiteral("C") + block.language;
        case BlockKind::Table:
            return QStringLiteral("T%1").arg(block.rows.size());
        case BlockKind::Formula:
            return QStringLiteral("F");
        case BlockKind::Rule:
            return QStringLiteral("R");
    }
    return {};
}

QStringList summary(const std::vector<Block>& blocks) {
    QStringList lines;
    for (const Block& block : blocks)
        lines << line(block.nesting, block.marker, kindName(block), block.text.simplified());
    return lines;
}

/// The same from cmark-gfm's XML of the whole text: another reader, another way through the text.
class Oracle {
  public:
    explicit Oracle(const QString& text) : m_xml(xmlOf(text)) {
        while (!m_xml.atEnd()) {
            const auto token = m_xml.readNext();
            if (token == QXmlStreamReader::StartElement) begin();
            if (token == QXmlStreamReader::EndElement) end();
            if (token == QXmlStreamReader::Characters && m_holdsText) m_text += m_xml.text();
        }
    }

    QStringList lines() const { return m_lines; }
    QString error() const { return m_xml.errorString(); }

  private:
    static QByteArray xmlOf(const QString& text) {
        cmark_gfm_core_extensions_ensure_registered();
        constexpr int kOptions = CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE;
        cmark_parser* parser = cmark_parser_new(kOptions);
        for (const char* name : {"table", "strikethrough", "autolink", "tasklist"})
            cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(name));
        const QByteArray bytes = text.toUtf8();
        cmark_parser_feed(parser, bytes.constData(), static_cast<std::size_t>(bytes.size()));
        cmark_node* document = cmark_parser_finish(parser);
        char* xml = cmark_render_xml(document, kOptions);
        const QByteArray copy(xml);
        free(xml);
        cmark_node_free(document);
        cmark_parser_free(parser);
        return copy;
    }

    void begin() {
        const auto name = m_xml.name();
        const auto attributes = m_xml.attributes();
        if (name == u"block_quote") open(u'q');
        if (name == u"list") beginList(attributes);
        if (name == u"item" || name == u"tasklist") beginItem(name == u"tasklist", attributes);
        if (name == u"heading")
            m_kind = QStringLiteral("H") + attributes.value(QLatin1String("level")).toString();
        if (name == u"code_block")
            m_kind =
                QStringLiteral("C") + attributes.value(QLatin1String("info")).toString().section(u' ', 0, 0);
        if (name == u"paragraph" || name == u"html_block") m_kind = u'P';
        if (name == u"table_row" || name == u"table_header") ++m_rows;
        if (name == u"softbreak" || name == u"linebreak") m_text += u' ';
        if (name == u"image") m_text += u"[image: ";
        m_holdsText = QStringList{"text", "code", "html_inline", "code_block", "html_block"}.contains(name);
    }

    void beginList(const QXmlStreamAttributes& attributes) {
        if (!m_marker.isEmpty()) add(QStringLiteral("P"), {});
        m_nesting += u'l';
        m_numbers << (attributes.value(QLatin1String("type")) == u"ordered"
                          ? attributes.value(QLatin1String("start")).toInt()
                          : -1);
    }

    void beginItem(bool task, const QXmlStreamAttributes& attributes) {
        int& number = m_numbers.back();
        m_marker = number < 0 ? QStringLiteral("•") : QString::number(number) + u'.';
        if (task)
            m_marker = attributes.value(QLatin1String("completed")) == u"true" ? QStringLiteral("☑")
                                                                               : QStringLiteral("☐");
        if (number >= 0) ++number;
        m_isEmpty = true;
    }

    void open(QChar letter) {
        m_nesting += letter;
        m_isEmpty = true;
    }

    void end() {
        m_holdsText = false;  // white space between elements is no text
        const auto name = m_xml.name();
        if (name == u"block_quote" || name == u"item" || name == u"tasklist") {
            if (m_isEmpty) add(QStringLiteral("P"), {});
            if (name == u"block_quote") m_nesting.chop(1);
        }
        if (name == u"list") {
            m_nesting.chop(1);
            m_numbers.pop_back();
        }
        if (name == u"image") m_text += u']';
        if (name == u"table_cell") m_text += u'\t';
        if (name == u"thematic_break") add(QStringLiteral("R"), {});
        if (name == u"table") add(QStringLiteral("T%1").arg(std::exchange(m_rows, 0)), m_text);
        if (name == u"paragraph" || name == u"heading" || name == u"code_block" || name == u"html_block")
            add(m_kind, m_text);
    }

    void add(const QString& kind, const QString& text) {
        m_lines << line(m_nesting, std::exchange(m_marker, {}), kind, text.simplified());
        m_text.clear();
        m_isEmpty = false;
    }

    QXmlStreamReader m_xml;
    QStringList m_lines;
    QString m_nesting;
    QString m_marker;
    QString m_kind;
    QString m_text;
    QList<int> m_numbers;
    int m_rows = 0;
    bool m_isEmpty = false;
    bool m_holdsText = false;
};

class Generator {
  public:
    explicit Generator(quint32 seed) : m_random(seed) {}

    QString text() {
        static const char* const pieces[] = {"word",
                                             " ",
                                             "\n",
                                             "\n\n",
                                             "- ",
                                             "* ",
                                             "1. ",
                                             "7) ",
                                             "    ",
                                             "  ",
                                             "> ",
                                             "# ",
                                             "### ",
                                             "```\n",
                                             "~~~ py\n",
                                             "`code`",
                                             "**b**",
                                             "*i*",
                                             "~~s~~",
                                             "***\n",
                                             "---\n",
                                             "===\n",
                                             "| a | b |\n",
                                             "|---|:-:|\n",
                                             "a|b\n",
                                             "--|--\n",
                                             "- [ ] todo",
                                             "- [x] ok",
                                             "<b>",
                                             "<div>\n",
                                             "&amp;",
                                             "\\*",
                                             "中文。",
                                             "https://example.org ",
                                             "[t](http://e.org/a)",
                                             "![alt](x.png)",
                                             "\t",
                                             "**",
                                             "`",
                                             "_",
                                             "\r\n",
                                             "text\n"};
        QString text;
        const int count = m_random.bounded(1, 40);
        for (int i = 0; i < count; ++i)
            text += QString::fromUtf8(pieces[m_random.bounded(int(std::size(pieces)))]);
        return text;
    }
    int below(int limit) { return int(m_random.bounded(limit)); }

  private:
    QRandomGenerator m_random;
};

std::vector<Block> inPieces(const QString& text, Generator& random, int longest) {
    MarkdownStream stream;
    for (qsizetype at = 0; at < text.size();) {
        const qsizetype length = std::min<qsizetype>(text.size() - at, 1 + random.below(longest));
        stream.append(QStringView(text).sliced(at, length));
        at += length;
    }
    stream.finish();
    return stream.blocks();
}

}  // namespace

class TestMarkdown : public QObject {
    Q_OBJECT

  private slots:
    void structureIsThatOfCmark() {
        Generator random(7);
        for (int round = 0; round < 3000; ++round) {
            const QString text = random.text();
            const Oracle oracle(text);
            QVERIFY2(oracle.error().isEmpty(), qPrintable(oracle.error()));
            const QStringList ours = summary(blocksOf(text));
            if (ours != oracle.lines()) qDebug().noquote() << "text:" << text << "\nours:" << ours;
            QCOMPARE(ours, oracle.lines());
        }
    }

    void anyCutsGiveTheSame() {
        Generator random(11);
        for (int round = 0; round < 3000; ++round) {
            QString text = random.text() + random.text();
            if (round % 3 == 0) text += QStringLiteral("\n$$\nx\n=\ny\n$$\n a $b$ \\(c\\)\n");
            const auto once = blocksOf(text);
            const auto cut = inPieces(text, random, 1 + round % 9);
            if (cut != once) qDebug().noquote() << text << "\n" << summary(cut) << "\n" << summary(once);
            QVERIFY(cut == once);
        }
    }

    void finalBlocksStay() {
        Generator random(13);
        for (int round = 0; round < 500; ++round) {
            const QString text = random.text();
            MarkdownStream stream;
            std::vector<Block> kept;
            for (const QChar character : text) {
                stream.append(QStringView(&character, 1));
                QVERIFY(stream.numFinal() >= kept.size());
                for (std::size_t i = 0; i < kept.size(); ++i) QVERIFY(stream.blocks()[i] == kept[i]);
                kept.assign(stream.blocks().begin(), stream.blocks().begin() + qsizetype(stream.numFinal()));
            }
        }
    }

    void formulas_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("expected");
        QTest::newRow("display") << "See\n$$\na_1*b_1*c\n=\nd\n$$\nend"
                                 << QStringList{"[|] P:See", "[|] F:a_1*b_1*c = d", "[|] P:end"};
        QTest::newRow("brackets") << "\\[ x^2 \\]" << QStringList{"[|] F:x^2"};
        QTest::newRow("inline") << "so $a_b*c*$ and \\(d\\)" << QStringList{"[|] P:so a_b*c* and d"};
        QTest::newRow("money") << "$5 and $10" << QStringList{"[|] P:$5 and $10"};
        QTest::newRow("in code") << "`$a$ \\(b\\)`" << QStringList{"[|] P:$a$ \\(b\\)"};
        QTest::newRow("in a list") << "- see\n  $$x$$" << QStringList{"[l|•] P:see", "[l|] F:x"};
        QTest::newRow("never closed") << "$$ x\n\ny" << QStringList{"[|] P:$$ x", "[|] P:y"};
    }
    void formulas() {
        QFETCH(QString, text);
        QFETCH(QStringList, expected);
        QCOMPARE(summary(blocksOf(text)), expected);
    }

    void onlyOurOwnTags() {
        const auto blocks =
            blocksOf(QStringLiteral("<img src=x> **b** [j](javascript:x) [f](file:///etc) "
                                    "[h](http://e.org/?a=\"<b>) ![p](http://e.org/p.png)"));
        QCOMPARE(blocks.size(), std::size_t(1));
        QString markup = blocks[0].markup;
        QVERIFY2(markup.contains(u"&lt;img src=x&gt; <b>b</b> j f <a href=\"http://e.org/"),
                 qPrintable(markup));
        QVERIFY2(markup.endsWith(u"[image: p]"), qPrintable(markup));
        markup.remove(
            QRegularExpression(QStringLiteral("</?[bis]>|</?code>|<br>|<a href=\"[^\"<>]*\">|</a>")));
        QVERIFY2(!markup.contains(u'<'), qPrintable(markup));
    }

    void definitionsStayText() {
        QCOMPARE(summary(blocksOf(QStringLiteral("[1]: http://e.org\n"))),
                 QStringList{"[|] P:[1]: http://e.org"});
    }

    void looksRightWhileItGrows() {
        const auto shown = [](const QString& text) {
            MarkdownStream stream;
            stream.append(text);
            return summary(stream.blocks());
        };
        QCOMPARE(shown(QStringLiteral("a\n``")), QStringList{"[|] P:a"});
        QCOMPARE(shown(QStringLiteral("a\n```py")), QStringList{"[|] P:a"});
        QCOMPARE(shown(QStringLiteral("```py\nx\n``")), QStringList{"[|] Cpy:x"});
        QCOMPARE(shown(QStringLiteral("| a | b")), QStringList{"[|] T1:a b"});
        QCOMPARE(shown(QStringLiteral("| a | b |\n|--")), QStringList{"[|] T1:a b"});
        QCOMPARE(shown(QStringLiteral("x **bo")), QStringList{"[|] P:x bo"});
        QCOMPARE(shown(QStringLiteral("x `co")), QStringList{"[|] P:x co"});
    }

    void hostile_data() {
        QTest::addColumn<QString>("text");
        QTest::newRow("one line of a megabyte") << QString(1 << 20, u'x');
        QTest::newRow("quotes") << QString(50000, u'>');
        QTest::newRow("brackets") << QString(50000, u'[');
        QTest::newRow("images") << QStringLiteral("![[]()").repeated(10000);
        QTest::newRow("stars") << QStringLiteral("**a *b ").repeated(10000);
        QTest::newRow("ticks") << QStringLiteral("` `` ``` ").repeated(8000);
        QTest::newRow("dollars") << QStringLiteral("$$a $b \\[").repeated(8000);
        QTest::newRow("lists") << QStringLiteral("- ").repeated(20000);
        QTest::newRow("pipes") << QStringLiteral("|").repeated(30000) + QStringLiteral("\n|-|");
        QTest::newRow("controls") << QString(QChar(0)).repeated(9) +
                                         QStringLiteral("\x01\x7f\u202eabc\uFDD0\uE000");
        QTest::newRow("lone surrogates") << QString(QChar(0xD800)) + QString(QChar(0xDC00)).repeated(3);
    }
    void hostile() {
        QFETCH(QString, text);
        QElapsedTimer timer;
        timer.start();
        MarkdownStream stream;
        for (qsizetype at = 0; at < text.size(); at += 1000) stream.append(QStringView(text).mid(at, 1000));
        stream.finish();
        QVERIFY(!stream.blocks().empty());
        for (const Block& block : stream.blocks())
            QVERIFY(block.text.size() <= 2 * MarkdownStream::kLongUnit);
        qInfo("%lld ms", timer.elapsed());
    }
};

QTEST_APPLESS_MAIN(TestMarkdown)
#include "tst_markdown.moc"
