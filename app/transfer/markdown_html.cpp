#include "app/transfer/markdown_html.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "app/transfer/outline.h"

namespace glmchat {
namespace {

constexpr int kDeepest = 64;  // nesting of blocks and inlines; people stay below 10
constexpr int kHighestHeading = 3;
constexpr const char* kSentinel = "\n\n## end\n";

struct Free {
    void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
    void operator()(cmark_node* node) const { cmark_node_free(node); }
    void operator()(char* text) const { cmark_get_default_mem_allocator()->free(text); }
};
using Parser = std::unique_ptr<cmark_parser, Free>;
using Node = std::unique_ptr<cmark_node, Free>;

Parser makeParser() {
    static std::once_flag registered;
    std::call_once(registered, cmark_gfm_core_extensions_ensure_registered);
    Parser parser(cmark_parser_new(CMARK_OPT_DEFAULT));
    for (const char* name : {"table", "strikethrough", "autolink", "tasklist"}) {
        cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(name));
    }
    return parser;
}

/// The parser is needed after parsing: it knows the extensions for rendering.
Node parse(cmark_parser* parser, QByteArrayView text) {
    cmark_parser_feed(parser, text.data(), static_cast<std::size_t>(text.size()));
    return Node(cmark_parser_finish(parser));
}

/// Every node with its depth, parents first. No recursion: text from anywhere may nest deep.
struct PlacedNode {
    cmark_node* node;
    int depth;
};
std::vector<PlacedNode> nodesOf(cmark_node* root) {
    std::vector<PlacedNode> nodes;
    int depth = 0;
    for (cmark_node* node = root; node;) {
        nodes.push_back({node, depth});
        if (cmark_node* child = cmark_node_first_child(node)) {
            node = child;
            ++depth;
            continue;
        }
        while (node && !cmark_node_next(node)) {
            node = cmark_node_parent(node);
            --depth;
        }
        if (node) node = cmark_node_next(node);
    }
    return nodes;
}

void replaceNode(cmark_node* old, cmark_node* replacement) {
    cmark_node_replace(old, replacement);
    cmark_node_free(old);
}

void showHtmlAsText(cmark_node* html, cmark_node_type type) {
    cmark_node* text = cmark_node_new(type);
    cmark_node_set_literal(text, cmark_node_get_literal(html));
    replaceNode(html, text);
}

void showPictureAsLink(cmark_node* picture) {
    cmark_node* link = cmark_node_new(CMARK_NODE_LINK);
    cmark_node_set_url(link, cmark_node_get_url(picture));
    cmark_node_set_title(link, cmark_node_get_title(picture));
    while (cmark_node* child = cmark_node_first_child(picture)) cmark_node_append_child(link, child);
    if (!cmark_node_first_child(link)) {
        cmark_node* text = cmark_node_new(CMARK_NODE_TEXT);
        cmark_node_set_literal(text, cmark_node_get_url(picture));
        cmark_node_append_child(link, text);
    }
    replaceNode(picture, link);
}

/// The page's own headings are of levels 1 and 2.
void lowerHeading(cmark_node* heading) {
    constexpr int kLowest = 6;
    const int level = cmark_node_get_heading_level(heading) + kHighestHeading - 1;
    cmark_node_set_heading_level(heading, std::min(level, kLowest));
}

void makeHarmless(const std::vector<PlacedNode>& nodes) {
    for (const PlacedNode& placed : nodes) {
        const cmark_node_type type = cmark_node_get_type(placed.node);
        if (type == CMARK_NODE_HTML_BLOCK) showHtmlAsText(placed.node, CMARK_NODE_CODE_BLOCK);
        if (type == CMARK_NODE_HTML_INLINE) showHtmlAsText(placed.node, CMARK_NODE_TEXT);
        if (type == CMARK_NODE_IMAGE) showPictureAsLink(placed.node);
        if (type == CMARK_NODE_HEADING) lowerHeading(placed.node);
    }
}

bool nestsTooDeep(const std::vector<PlacedNode>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const PlacedNode& placed) { return placed.depth > kDeepest; });
}

}  // namespace

QByteArray markdownToHtml(const QString& markdown) {
    const Parser parser = makeParser();
    const Node root = parse(parser.get(), cleanText(markdown).toUtf8());
    const std::vector<PlacedNode> nodes = nodesOf(root.get());
    if (nestsTooDeep(nodes)) return "<pre>" + escapeHtml(cleanText(markdown)) + "</pre>\n";
    makeHarmless(nodes);
    const std::unique_ptr<char, Free> html(
        cmark_render_html(root.get(), CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser.get())));
    return QByteArray(html.get());
}

QByteArray escapeHtml(QStringView text) {
    return text.toString().toHtmlEscaped().toUtf8();
}

MarkdownTraits examineMarkdown(const QString& markdown) {
    const Parser parser = makeParser();
    const Node root = parse(parser.get(), markdown.toUtf8() + kSentinel);
    cmark_node* last = cmark_node_last_child(root.get());
    MarkdownTraits traits{cmark_node_get_type(last) == CMARK_NODE_HEADING, false};
    for (const PlacedNode& placed : nodesOf(root.get())) {
        const cmark_node_type type = cmark_node_get_type(placed.node);
        const bool isHighHeading = type == CMARK_NODE_HEADING && placed.node != last &&
                                   cmark_node_get_heading_level(placed.node) < kHighestHeading;
        if (isHighHeading || type == CMARK_NODE_HTML_BLOCK) traits.keepsStructure = false;
        if (type == CMARK_NODE_HTML_INLINE) traits.hasInlineHtml = true;
    }
    return traits;
}

}  // namespace glmchat
