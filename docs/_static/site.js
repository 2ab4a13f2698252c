// On a phone, a table of much text in three columns or more is a list: each cell says of which column it is.
function makeLists() {
  for (const table of document.querySelectorAll("article table")) {
    const heads = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
    const rows = [...table.querySelectorAll("tbody tr")].map((row) => [...row.children]);
    const longest = heads.map((_, i) => Math.max(0, ...rows.map((row) => row[i]?.textContent.length ?? 0)));
    if (heads.length < 3 || longest.reduce((sum, each) => sum + each, 0) < 130) continue;
    table.classList.add("wide");
    for (const row of rows) row.forEach((cell, i) => cell.setAttribute("data-column", i ? heads[i] : ""));
  }
}

// Long names break behind underscores and before capitals, and elsewhere only if nothing else fits.
function breakNames() {
  for (const place of document.querySelectorAll("article h1, article td code")) {
    const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const parts = text.data.split(/(?<=_)(?=[^_])|(?<=[a-z])(?=[A-Z])/);
      text.replaceWith(...parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part])));
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  makeLists();
  breakNames();
});
