#include <QFontDatabase>
#include <QPdfWriter>
#include <QtTest>
#include <random>

#if defined(Q_OS_UNIX)
#include <csignal>

#include <sys/resource.h>
#include <unistd.h>
#endif

#include "tests/app/transfer/sample_conversations.h"
#include "tests/support/conformance_kit.h"

#include "app/transfer/export_files.h"
#include "app/transfer/export_html.h"
#include "app/transfer/export_text.h"
#include "app/transfer/file_names.h"
#include "app/transfer/markdown_html.h"

using namespace glmchat;

namespace {

ExportOptions options(bool allBranches = false) {
    ExportOptions result;
    result.allBranches = allBranches;
    result.appVersion = QStringLiteral("0.1.0");
    result.timeZone = QTimeZone::utc();
    return result;
}

QString goldenPath(const QString& name) {
    const auto folder = test::source_dir() / "tests" / "app" / "transfer" / "golden";
    return QString::fromStdU16String(folder.u16string()) + u'/' + name;
}

QByteArray readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QByteArray renderSample(ExportFormat format, bool allBranches) {
    const ConversationDocument sample = test::sampleConversation();
    return render({&sample, 1}, format, options(allBranches));
}

int numPages(const QByteArray& pdf) {
    static const QRegularExpression kPage(QStringLiteral("/Type /Page\\b(?!s)"));
    int count = 0;
    for (auto match = kPage.globalMatch(QString::fromLatin1(pdf)); match.hasNext(); match.next()) ++count;
    return count;
}

}  // namespace

class TestTransferExport : public QObject {
    Q_OBJECT

  private slots:
    void goldenFiles_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<ExportFormat>("format");
        QTest::addColumn<bool>("allBranches");
        QTest::newRow("Markdown") << "sample.md" << ExportFormat::Markdown << false;
        QTest::newRow("Markdown, all branches") << "sample_branches.md" << ExportFormat::Markdown << true;
        QTest::newRow("text") << "sample.txt" << ExportFormat::PlainText << false;
        QTest::newRow("HTML") << "sample.html" << ExportFormat::Html << false;
        QTest::newRow("JSON") << "sample.json" << ExportFormat::Json << false;
    }

    /// With GLMCHAT_UPDATE_GOLDEN set the files are written instead; look at them before they are committed.
    void goldenFiles() {
        QFETCH(QString, file);
        QFETCH(ExportFormat, format);
        QFETCH(bool, allBranches);
        const QByteArray bytes = renderSample(format, allBranches);
        if (qEnvironmentVariableIsSet("GLMCHAT_UPDATE_GOLDEN")) {
            QVERIFY(writeFile(goldenPath(file), bytes));
        }
        QCOMPARE(QString::fromUtf8(bytes), QString::fromUtf8(readAll(goldenPath(file))));
    }

    void optionsLeaveOut() {
        const ConversationDocument sample = test::sampleConversation();
        ExportOptions bare = options();
        bare.metadata = false;
        bare.systemPrompt = false;
        for (const ExportFormat format :
             {ExportFormat::Markdown, ExportFormat::Html, ExportFormat::PlainText}) {
            const QByteArray text = render({&sample, 1}, format, bare);
            for (const char* absent :
                 {"ChatGLM2-6B", "temperature", "2026-05", "你是助手", "哪个系统", "删掉的话"}) {
                QVERIFY2(!text.contains(absent), absent);
            }
            QVERIFY(text.contains("在 Debian"));
        }
    }

    /// Whatever is in the texts: the document's headings are ours, and each message stands under its own.
    void markdownKeepsItsStructure() {
        std::mt19937 random(7);
        for (int i = 0; i < 1000; ++i) {
            const QString text = test::oddText(random) + test::oddText(random);
            QVERIFY2(examineMarkdown(embedMarkdown(text)).keepsStructure, qPrintable(text));
        }
    }

    void markdownIsEmbedded_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        QTest::newRow("as it is") << "a *b*\r\n\r\n```c\r\n# x\r\n```"
                                  << "a *b*\n\n```c\n# x\n```";
        QTest::newRow("headings go down") << "# a\n##### b"
                                          << "### a\n###### b";
        QTest::newRow("underlined headings") << "a\n===\n\nb\n---"
                                             << "### a\n\n#### b";
        QTest::newRow("open fence is closed") << "````\nx\n```"
                                              << "````\nx\n```\n````";
        QTest::newRow("HTML block is text") << "<details>\nx"
                                            << "\\<details>\nx";
        QTest::newRow("tags are text") << "a <smirk> b<c && <https://x.y> `<i>`\nvector<int>"
                                       << "a <smirk> b<c && <https://x.y> `<i>`\nvector\\<int>";
        QTest::newRow("tags in lists") << "1. <script>x</script>"
                                       << "1. \\<script>x\\</script>";
        QTest::newRow("source in a longer fence") << "- a\n  ````\n# x\n"
                                                  << "`````markdown\n- a\n  ````\n# x\n`````";
    }

    void markdownIsEmbedded() {
        QFETCH(QString, text);
        QFETCH(QString, expected);
        QCOMPARE(embedMarkdown(text), expected);
    }

    void htmlIsHarmless() {
        std::mt19937 random(11);
        static const QRegularExpression kTag(QStringLiteral("<([a-zA-Z!][a-zA-Z0-9]*)([^>]*)>"));
        static const QSet<QString> kTags{"p",     "pre", "code",       "em", "strong", "a",   "ul",
                                         "ol",    "li",  "blockquote", "hr", "br",     "del", "table",
                                         "thead", "tr",  "th",         "td", "tbody",  "h1",  "h2",
                                         "h3",    "h4",  "h5",         "h6", "input"};
        for (int i = 0; i < 1000; ++i) {
            const QString html =
                QString::fromUtf8(markdownToHtml(test::oddText(random) + test::oddText(random)));
            for (auto found = kTag.globalMatch(html); found.hasNext();) {
                const QRegularExpressionMatch tag = found.next();
                QVERIFY2(kTags.contains(tag.captured(1)), qPrintable(tag.captured()));
                QVERIFY2(!tag.captured(2).contains("javascript:", Qt::CaseInsensitive),
                         qPrintable(tag.captured()));
                QVERIFY2(!tag.captured(2).contains(" on"), qPrintable(tag.captured()));
                QVERIFY2(!tag.captured(2).contains(" src"), qPrintable(tag.captured()));
            }
        }
        QVERIFY(markdownToHtml("<smirk> a<b").contains("&lt;smirk&gt; a&lt;b"));
        QVERIFY(!markdownToHtml("x <!-- gone? --> y").contains("omitted"));
    }

    void deepNestingIsShownAsItIs() {
        const QByteArray html = markdownToHtml(QString(5000, u'>') + "x");
        QVERIFY(html.startsWith("<pre>&gt;"));
    }

    void htmlPageForbidsScriptsAndRequests() {
        const QByteArray html = renderSample(ExportFormat::Html, true);
        QVERIFY(html.contains("default-src 'none'"));
        QVERIFY(html.contains("prefers-color-scheme: dark"));
        QVERIFY(html.contains("@media print"));
        for (const char* absent :
             {"<script", "<img", "<link", " src=", "url(", "@import", "href=\"javascript:"}) {
            QVERIFY2(!html.contains(absent), absent);
        }
    }

    void pdfHasAllPages() {
        ConversationDocument conversation = test::sampleConversation();
        const QByteArray one = toPdf({&conversation, 1}, options());
        QVERIFY(one.startsWith("%PDF-"));
        const int pagesOfOne = numPages(one);
        QVERIFY(pagesOfOne >= 1);
        conversation.messages[2].text = QStringLiteral("一行文字。\n").repeated(300);
        const QByteArray longer = toPdf({&conversation, 1}, options());
        QVERIFY(numPages(longer) >= pagesOfOne + 4);
        QCOMPARE(numPages(toPdf({&conversation, 1}, options())), numPages(longer));
        const QList<ConversationDocument> two{test::sampleConversation(), test::sampleConversation()};
        QCOMPARE(numPages(toPdf(two, options())), 2 * pagesOfOne);
    }

    void fileNamesAreSafe_data() {
        QTest::addColumn<QString>("title");
        QTest::addColumn<QString>("name");
        QTest::newRow("Chinese") << "关于 安装：第一步"
                                 << "关于 安装：第一步";
        QTest::newRow("separators") << "a/b\\c:d*e?f\"g<h>i|j"
                                    << "a_b_c_d_e_f_g_h_i_j";
        QTest::newRow("empty") << ""
                               << "conversation";
        QTest::newRow("only dots") << " ... "
                                   << "conversation";
        QTest::newRow("parent folder") << "../../etc/passwd"
                                       << "_.._etc_passwd";
        QTest::newRow("device") << "CON"
                                << "_CON";
        QTest::newRow("device with ending") << "nul.txt"
                                            << "_nul.txt";
        QTest::newRow("not a device") << "console"
                                      << "console";
        QTest::newRow("lines and tabs") << "a\nb\tc"
                                        << "a b c";
        QTest::newRow("direction trick") << QStringLiteral("txt.\u202Eexe") << "txt.exe";
        QTest::newRow("lone surrogate") << QString(QChar(0xD800)) + "x"
                                        << "x";
        QTest::newRow("combining") << QStringLiteral("e\u0301") << QStringLiteral("é");
        QTest::newRow("long") << QStringLiteral("长").repeated(100) << QStringLiteral("长").repeated(40);
    }

    void fileNamesAreSafe() {
        QFETCH(QString, title);
        QFETCH(QString, name);
        QCOMPARE(safeFileName(title), name);
    }

    void aFolderGetsAFilePerConversation() {
        const QTemporaryDir base(QDir::tempPath() + QStringLiteral("/导出　é XXXXXX"));
        const QString folder = base.filePath("new/folder");
        QList<ConversationDocument> conversations(3, test::sampleConversation());
        conversations[0].title = QStringLiteral("Chat");
        conversations[1].title = QStringLiteral("chat");
        conversations[2].title = QStringLiteral("聊天");
        const auto first = exportToFolder(conversations, ExportFormat::PlainText, options(), folder);
        QVERIFY(first);
        QCOMPARE(*first, (QStringList{"Chat.txt", "chat (2).txt", "聊天.txt"}));
        const auto second = exportToFolder(conversations, ExportFormat::PlainText, options(), folder);
        QVERIFY(second);
        QCOMPARE(*second, (QStringList{"Chat (3).txt", "chat (4).txt", "聊天 (2).txt"}));
        QCOMPARE(QDir(folder).entryList(QDir::Files).size(), 6);
    }

    void cancelledExportSaysWhatIsThere() {
        const QTemporaryDir folder;
        const QList<ConversationDocument> conversations(3, test::sampleConversation());
        std::stop_source source;
        const auto outcome = exportToFolder(conversations, ExportFormat::Markdown, options(), folder.path(),
                                            source.get_token(), [&](qint64 done, qint64) {
                                                if (done == 2) source.request_stop();
                                            });
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().kind, TransferError::Kind::Cancelled);
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 2);
    }

    void aFolderThatCannotBeMadeIsNamed() {
        const QTemporaryDir base;
        QVERIFY(writeFile(base.filePath("file"), "x"));
        const ConversationDocument sample = test::sampleConversation();
        const QString folder = base.filePath("file/below");
        const auto outcome = exportToFolder({&sample, 1}, ExportFormat::Markdown, options(), folder);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().kind, TransferError::Kind::CannotMakeFolder);
        QVERIFY(outcome.error().message.contains(folder));
    }

    void aMissingFolderIsNamed() {
        const auto outcome = writeFile(QStringLiteral("/nowhere/at/all.md"), "x");
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().kind, TransferError::Kind::CannotWrite);
        QVERIFY(outcome.error().message.contains("/nowhere/at/all.md"));
    }

#if defined(Q_OS_UNIX)
    void aFullDiskLeavesTheOldFile() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("chat.md");
        QVERIFY(writeFile(path, "old"));
        rlimit before{};
        getrlimit(RLIMIT_FSIZE, &before);
        const rlimit small{1000, before.rlim_max};
        const auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        const auto outcome = writeFile(path, QByteArray(100'000, 'x'));
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, oldHandler);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().kind, TransferError::Kind::CannotWrite);
        QVERIFY(outcome.error().message.contains(path));
        QCOMPARE(readAll(path), QByteArray("old"));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList{"chat.md"});
    }

    void aReadOnlyFolderIsNamed() {
        if (geteuid() == 0) QSKIP("root may write everywhere");
        const QTemporaryDir folder;
        QVERIFY(QFile::setPermissions(folder.path(), QFile::ReadOwner | QFile::ExeOwner));
        const auto outcome = writeFile(folder.filePath("a.md"), "x");
        QFile::setPermissions(folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        QVERIFY(!outcome);
        QVERIFY(outcome.error().message.contains("a.md"));
    }
#endif

    void formatsHaveNames() {
        for (const ExportFormat format : {ExportFormat::Markdown, ExportFormat::Json, ExportFormat::Html,
                                          ExportFormat::Pdf, ExportFormat::PlainText}) {
            QCOMPARE(formatFromName(formatName(format)), format);
        }
        QVERIFY(!formatFromName(QStringLiteral("docx")));
    }
};

QTEST_MAIN(TestTransferExport)
#include "tst_transfer_export.moc"
