(() => {
  "use strict";
  const table = document.getElementById("investigations");
  const body = table && table.tBodies[0];
  const rows = body ? Array.from(body.rows) : [];
  const outcomes = [...new Set(rows.map(row => row.dataset.outcome))]; // the rows come by urgency

  function show(wanted) {
    for (const item of document.querySelectorAll("[data-outcome]")) {
      item.hidden = wanted !== null && item.dataset.outcome !== wanted;
    }
  }

  function addChips() {
    const chips = document.getElementById("chips");
    for (const outcome of [null, ...outcomes]) {
      const count = rows.filter(row => outcome === null || row.dataset.outcome === outcome).length;
      const chip = document.createElement("button");
      chip.type = "button";
      chip.textContent = `${outcome ?? "all"} ${count}`;
      chip.setAttribute("aria-pressed", String(outcome === null));
      chip.addEventListener("click", () => {
        show(outcome);
        for (const other of chips.children) other.setAttribute("aria-pressed", String(other === chip));
      });
      chips.append(chip);
    }
    chips.hidden = false;
  }

  function sortBy(column, header) {
    const rising = header.getAttribute("aria-sort") !== "ascending";
    const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
    const order = (a, b) => key(a).localeCompare(key(b), undefined, { numeric: true });
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    body.append(...rows.slice().sort((a, b) => (rising ? order(a, b) : order(b, a))));
  }

  function addSorting() {
    Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      button.addEventListener("click", () => sortBy(column, header));
      header.replaceChildren(button);
    });
  }

  // Whoever follows a link to an investigation wants to see its loads.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target || !target.matches("article")) return;
    if (target.hidden) document.querySelector("#chips button")?.click();
    const folded = target.querySelector("details.more");
    if (folded) folded.open = true;
    target.scrollIntoView();
  }

  // Paper has no disclosure triangles: open what was closed, and close it again afterwards.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details.more:not([open])"));
    for (const item of opened) item.open = true;
  });
  addEventListener("afterprint", () => {
    for (const item of opened) item.open = false;
  });

  if (outcomes.length > 1) addChips();
  if (rows.length > 1) addSorting();
  addEventListener("hashchange", openTarget);
  openTarget();
})();
