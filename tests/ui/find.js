.pragma library

// Items below `item`, itself included, for which `matches(item)` holds.
function all(item, matches) {
    const found = matches(item) ? [item] : []
    for (let i = 0; i < item.children.length; ++i)
        found.push(...all(item.children[i], matches))
    return found
}

// The first of them, or null.
function first(item, matches) {
    return all(item, matches)[0] ?? null
}

// A visible button that says `name`, or null.
function button(item, name) {
    return first(item, child => child.clicked !== undefined && child.text === name && child.visible)
}
