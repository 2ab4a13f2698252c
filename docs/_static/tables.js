// On a phone, a table of four columns or more is a list: each cell says of which column it is.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table")) {
    const heads = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
    if (heads.length < 4) continue;
    table.classList.add("wide");
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.children].forEach((cell, i) => cell.setAttribute("data-column", i ? heads[i] : ""));
  }
});
