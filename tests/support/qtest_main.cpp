#include <QtTest>

#include "tests/support/check.h"

/// Shows every row of the check table as a row of one Qt Test.
class CheckTable : public QObject {
    Q_OBJECT

  private slots:
    void check_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < m_checks.size(); ++i) {
            QTest::newRow(m_checks[i].name.c_str()) << static_cast<int>(i);
        }
    }

    void check() {
        QFETCH(int, index);
        using Outcome = glmchat::test::CheckResult::Outcome;
        const glmchat::test::CheckResult result = m_checks[static_cast<std::size_t>(index)].run();
        switch (result.outcome) {
            case Outcome::kPassed:
                if (!result.message.empty()) qInfo("%s", result.message.c_str());
                break;
            case Outcome::kSkipped: QSKIP(result.message.c_str());
            case Outcome::kFailed: QFAIL(result.message.c_str());
        }
    }

  private:
    const std::vector<glmchat::test::Check> m_checks = glmchat::test::all_checks();
};

QTEST_APPLESS_MAIN(CheckTable)
#include "qtest_main.moc"
