"use strict";
// Sort a table by a column: numbers by number, text by text, empty cells last; references and methods stay apart.
function sortBy(table, header) {
  const row = header.parentElement;
  const column = Array.from(row.children).indexOf(header);
  const ascending = header.getAttribute("aria-sort") !== "ascending";
  row.querySelectorAll("[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const key = (tr) => tr.children[column].dataset.sort;
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const bothNumbers = !Number.isNaN(Number(a)) && !Number.isNaN(Number(b));
    const order = bothNumbers ? Number(a) - Number(b) : a.localeCompare(b);
    return ascending ? order : -order;
  };
  for (const body of table.tBodies) {
    const rows = Array.from(body.rows).sort((a, b) => compare(key(a), key(b)));
    body.append(...rows);
  }
}
for (const table of document.querySelectorAll("table.sortable")) {
  for (const button of table.querySelectorAll("thead button")) {
    button.addEventListener("click", () => sortBy(table, button.parentElement));
  }
}
// A link to a run's provenance opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}
window.addEventListener("hashchange", openTarget);
openTarget();
