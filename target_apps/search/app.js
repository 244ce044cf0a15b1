const { bug } = document.documentElement.dataset;
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");
const results = document.querySelector("ul");
let superseded = new AbortController();
let running = 0;
let before = "";

function show(text, products = [], failed = false) {
  status.textContent = text;
  status.className = failed ? "failed" : "";
  results.replaceChildren(...products.map(line));
}

function line({ name, price }) {
  const item = document.createElement("li");
  const cost = document.createElement("span");
  cost.textContent = bug === "forgets-price" ? "" : price.toFixed(2);
  item.append(name, " ", cost);
  return item;
}

function addressOf(q, category) {
  const query = new URLSearchParams({ q, limit: bug === "refused-query" ? "all" : "20" });
  if (category && bug !== "ignores-category") query.set("category", category);
  return `/api/products?${query}`;
}

async function ask(address, signal) {
  const response = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(1000)]) });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return (await response.json()).products;
}

function busy(change) {
  running += change;
  results.setAttribute("aria-busy", String(running > 0));
}

async function search() {
  superseded.abort();
  const mine = (superseded = new AbortController());
  const q = form.elements.q.value.trim();
  const asked = bug === "a-letter-behind" && before ? before : q;
  before = q;
  if (!q) return show("Type what you look for.");
  busy(+1);
  try {
    const answer = ask(addressOf(asked, form.elements.category.value), mine.signal);
    if (bug === "aborts-at-once") mine.abort();
    const products = await answer;
    show(products.length ? `${products.length} found for “${q}”` : `Nothing matches “${q}”`, products);
  } catch (error) {
    if (mine === superseded) show(`The search failed: ${error.message}`, [], true);
  } finally {
    busy(-1);
  }
}

form.addEventListener("input", search);
form.addEventListener("submit", (event) => event.preventDefault());
