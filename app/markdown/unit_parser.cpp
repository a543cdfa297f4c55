#include "app/markdown/unit_parser.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include "app/markdown/formula_mask.h"
#include "app/markdown/inline_markup.h"

namespace glmchat::markdown {
namespace {

struct FreeNode {
    void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using Document = std::unique_ptr<cmark_node, FreeNode>;

/// "~5 and ~6" strikes nothing out: only two tildes do.
constexpr int kOptions = CMARK_OPT_DEFAULT | CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE;

Document parse(const QString& text) {
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser* parser = cmark_parser_new(kOptions);
    for (const char* name : {"table", "strikethrough", "autolink", "tasklist"}) {
        if (cmark_syntax_extension* extension = cmark_find_syntax_extension(name))
            cmark_parser_attach_syntax_extension(parser, extension);
    }
    const QByteArray bytes = text.toUtf8();
    cmark_parser_feed(parser, bytes.constData(), static_cast<std::size_t>(bytes.size()));
    Document document(cmark_parser_finish(parser));
    cmark_parser_free(parser);
    return document;
}

/// Nodes of extensions have no constants of their own, only names.
bool is(cmark_node* node, std::string_view type) {
    return type == cmark_node_get_type_string(node);
}

bool isFence(cmark_node* node) {
    int length = 0;
    int offset = 0;
    char character = 0;
    return cmark_node_get_type(node) == CMARK_NODE_CODE_BLOCK &&
           cmark_node_get_fenced(node, &length, &offset, &character) != 0;
}

std::size_t lineOf(cmark_node* node) {
    return static_cast<std::size_t>(std::max(1, cmark_node_get_start_line(node)) - 1);
}

/// A table takes its head from the last line of a paragraph; that line alone could mean something else.
bool mayBeginUnit(cmark_node* node) {
    cmark_node* before = cmark_node_previous(node);
    return before && !(is(node, "table") && cmark_node_get_type(before) == CMARK_NODE_PARAGRAPH);
}

QString literal(cmark_node* node) {
    return QString::fromUtf8(cmark_node_get_literal(node));
}

/// Walks over the nodes of one unit and writes its blocks down.
class BlockWriter {
  public:
    BlockWriter(const FormulaMask& mask, int firstNumber) : m_mask(mask), m_firstNumber(firstNumber) {}

    ParsedUnit write(cmark_node* document) {
        cmark_iter* iterator = cmark_iter_new(document);
        for (cmark_event_type event; (event = cmark_iter_next(iterator)) != CMARK_EVENT_DONE;) {
            cmark_node* node = cmark_iter_get_node(iterator);
            if (cmark_node_get_type(node) == CMARK_NODE_DOCUMENT) continue;
            if (event == CMARK_EVENT_ENTER) {
                enter(node);
            } else {
                leave(node);
            }
        }
        cmark_iter_free(iterator);
        return std::move(m_unit);
    }

  private:
    struct List {
        bool ordered;
        bool tight;
        int number;
    };

    void enter(cmark_node* node) {
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_BLOCK_QUOTE:
                return enterContainer(u'q');
            case CMARK_NODE_LIST:
                return enterList(node);
            case CMARK_NODE_ITEM:
                return enterItem(node);
            case CMARK_NODE_CODE_BLOCK:
                return addCode(node);
            case CMARK_NODE_HTML_BLOCK:
                return addHtml(node);
            case CMARK_NODE_THEMATIC_BREAK:
                return add({.kind = BlockKind::Rule});
            default:
                return enterInline(node);
        }
    }

    void enterInline(cmark_node* node) {
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_TEXT:
                return addText(literal(node),
                               cmark_node_get_type(cmark_node_parent(node)) == CMARK_NODE_PARAGRAPH);
            case CMARK_NODE_HTML_INLINE:
                return m_inline.text(m_mask.restored(literal(node)));
            case CMARK_NODE_CODE:
                return m_inline.code(m_mask.restored(literal(node)));
            case CMARK_NODE_SOFTBREAK:
            case CMARK_NODE_LINEBREAK:
                return m_inline.lineBreak();  // a line the model broke stays broken, as on a typewriter
            case CMARK_NODE_EMPH:
                return m_inline.open(u"i");
            case CMARK_NODE_STRONG:
                return m_inline.open(u"b");
            case CMARK_NODE_LINK:
                return m_inline.openLink(m_mask.restored(QString::fromUtf8(cmark_node_get_url(node))));
            case CMARK_NODE_IMAGE:
                return m_inline.text(u"[image: ");
            default:
                if (is(node, "strikethrough")) m_inline.open(u"s");
                if (is(node, "table")) beginTable(node);
                if (is(node, "table_header") || is(node, "table_row")) m_table.rows.emplace_back();
        }
    }

    void leave(cmark_node* node) {
        switch (cmark_node_get_type(node)) {
            case CMARK_NODE_BLOCK_QUOTE:
            case CMARK_NODE_ITEM:
                return leaveContainer();
            case CMARK_NODE_LIST:
                m_lists.pop_back();
                m_nesting.chop(1);
                return;
            case CMARK_NODE_PARAGRAPH:
                return addParagraph();
            case CMARK_NODE_HEADING:
                return addHeading(node);
            case CMARK_NODE_EMPH:
                return m_inline.close(u"i");
            case CMARK_NODE_STRONG:
                return m_inline.close(u"b");
            case CMARK_NODE_LINK:
                return m_inline.closeLink();
            case CMARK_NODE_IMAGE:
                return m_inline.text(u"]");
            default:
                if (is(node, "strikethrough")) m_inline.close(u"s");
                if (is(node, "table_cell")) addCell();
                if (is(node, "table")) add(std::exchange(m_table, {}));
        }
    }

    void enterContainer(QChar letter) {
        m_nesting += letter;
        m_containerIsEmpty = true;
    }

    /// What holds nothing is still seen: its marker or its bar.
    void leaveContainer() {
        const bool isQuote = m_nesting.endsWith(u'q');
        if (m_containerIsEmpty) add({});
        if (isQuote) m_nesting.chop(1);
    }

    void enterList(cmark_node* node) {
        List list{cmark_node_get_list_type(node) == CMARK_ORDERED_LIST, cmark_node_get_list_tight(node) != 0,
                  cmark_node_get_list_start(node)};
        const bool beginsUnit = m_unit.blocks.empty() && m_nesting.isEmpty();
        if (beginsUnit && list.ordered) {
            if (m_firstNumber >= 0) list.number = m_firstNumber;
            m_unit.firstNumber = list.number;
        }
        m_lists.push_back(list);
        if (!m_marker.isEmpty()) add({});  // a list right inside an item leaves that item a line of its own
        m_nesting += u'l';
        m_listHasItems = false;
    }

    void enterItem(cmark_node* node) {
        List& list = m_lists.back();
        if (is(node, "tasklist")) {
            m_marker = cmark_gfm_extensions_get_tasklist_item_checked(node) ? QStringLiteral("☑")
                                                                            : QStringLiteral("☐");
        } else {
            m_marker = list.ordered ? QString::number(list.number) + u'.' : QStringLiteral("•");
        }
        ++list.number;
        m_nextGap = list.tight && (m_listHasItems || m_lists.size() > 1) ? Gap::Tight : Gap::Normal;
        m_listHasItems = true;
        m_containerIsEmpty = true;
    }

    /// Formulas of a paragraph on lines of their own become blocks, the others stay in the text.
    void addText(const QString& text, bool inParagraph) {
        qsizetype begin = 0;
        for (qsizetype at = 0; at < text.size(); ++at) {
            const Formula* formula = m_mask.formulaAt(text, at);
            if (!formula) continue;
            m_inline.text(m_mask.restored(QStringView(text).sliced(begin, at - begin)));
            if (formula->display && inParagraph) {
                addParagraph();
                add({.kind = BlockKind::Formula, .text = formula->source});
            } else {
                m_inline.code(formula->source);
            }
            begin = ++at + 1;
        }
        m_inline.text(m_mask.restored(QStringView(text).sliced(begin)));
    }

    void addParagraph() {
        m_inline.trim();
        if (!m_inline.isEmpty()) addInline({.kind = BlockKind::Paragraph});
        m_inline.clear();
    }

    void addHeading(cmark_node* node) {
        addInline({.kind = BlockKind::Heading, .level = cmark_node_get_heading_level(node)});
    }

    void addInline(Block block) {
        block.text = m_inline.plain();
        block.markup = m_inline.markup();
        while (block.markup.startsWith(u"<br>")) {  // after a formula on a line of its own
            block.markup.remove(0, 4);
            block.text.remove(0, 1);
        }
        m_inline.clear();
        add(std::move(block));
    }

    void addCode(cmark_node* node) {
        const QString info = m_mask.restored(QString::fromUtf8(cmark_node_get_fence_info(node)));
        QString text = m_mask.restored(literal(node));
        if (text.endsWith(u'\n')) text.chop(1);
        add({.kind = BlockKind::Code, .text = text, .language = info.section(u' ', 0, 0)});
    }

    void addHtml(cmark_node* node) {
        QString text = m_mask.restored(literal(node));
        while (text.endsWith(u'\n')) text.chop(1);
        const QStringList lines = text.split(u'\n');
        for (qsizetype i = 0; i < lines.size(); ++i) {
            if (i > 0) m_inline.lineBreak();
            m_inline.text(lines[i]);
        }
        addInline({.kind = BlockKind::Paragraph});
    }

    void beginTable(cmark_node* node) {
        m_table = {.kind = BlockKind::Table};
        const std::uint8_t* alignments = cmark_gfm_extensions_get_table_alignments(node);
        for (int i = 0; i < cmark_gfm_extensions_get_table_columns(node); ++i)
            m_table.alignments += alignments[i] ? QChar(alignments[i]) : u' ';
    }

    void addCell() {
        m_table.rows.back() << m_inline.markup();
        m_table.text += m_inline.plain() + u'\t';
        m_inline.clear();
    }

    void add(Block block) {
        block.nesting = m_nesting.first(std::min(m_nesting.size(), kMaxNesting));
        block.marker = std::exchange(m_marker, {});
        block.gap = std::exchange(m_nextGap, Gap::Normal);
        m_containerIsEmpty = false;
        m_unit.blocks.push_back(std::move(block));
    }

    const FormulaMask& m_mask;
    int m_firstNumber;
    ParsedUnit m_unit;
    InlineMarkup m_inline;
    Block m_table;
    QString m_nesting;
    QString m_marker;
    std::vector<List> m_lists;
    Gap m_nextGap = Gap::Normal;
    bool m_containerIsEmpty = false;
    bool m_listHasItems = false;
};

}  // namespace

std::vector<UnitStart> unitStarts(QStringView source) {
    const FormulaMask mask(source);
    const Document document = parse(mask.text());
    std::vector<UnitStart> starts;
    const auto add = [&](cmark_node* node, bool inList) {
        const qsizetype position = mask.sourceOfLine(lineOf(node));
        if (position > 0 && position <= mask.openFormula())
            starts.push_back({position, inList, isFence(node)});
    };
    for (cmark_node* child = cmark_node_first_child(document.get()); child; child = cmark_node_next(child)) {
        if (mayBeginUnit(child)) add(child, false);
        if (cmark_node_get_type(child) != CMARK_NODE_LIST) continue;
        cmark_node* first = cmark_node_first_child(child);
        for (cmark_node* item = cmark_node_next(first); item; item = cmark_node_next(item)) add(item, true);
    }
    return starts;
}

ParsedUnit parseUnit(QStringView source, int firstNumber) {
    const FormulaMask mask(source);
    const Document document = parse(mask.text());
    return BlockWriter(mask, firstNumber).write(document.get());
}

}  // namespace glmchat::markdown
