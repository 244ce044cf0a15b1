const { bug } = document.documentElement.dataset;
const SHARES = 12;
const at = (id) => document.querySelector(`[data-testid=${id}]`);

function say(where, text, failed = false) {
  at(where).textContent = text;
  at(where).className = failed ? "failed" : "";
}

async function showFigures() {
  try {
    const response = await fetch("/api/figures", { signal: AbortSignal.timeout(1000) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const { visitors, orders } = await response.json();
    const rate = bug === "wrong-rate" ? visitors / orders : orders / visitors;
    at("visitors").textContent = visitors;
    at("orders").textContent = orders;
    at("conversion").textContent = `${(rate * 100).toFixed(1)} %`;
    say("figures-status", "Loaded");
  } catch (error) {
    say("figures-status", `No figures: ${error.message}`, true);
  }
}

let first;

function showPrice(price) {
  if (bug === "price-not-shown") return;
  first ??= price;
  at("price").textContent = price.toFixed(2);
  at("worth").textContent = ((bug === "worth-is-stale" ? first : price) * SHARES).toFixed(2);
}

// A price that no longer follows the market is taken away rather than shown as if it were live.
function interrupted() {
  for (const id of ["price", "worth"]) at(id).textContent = "–";
  say("live-status", "No live prices: the connection is interrupted.", true);
  setTimeout(follow, 1000);
}

function follow() {
  const live = new WebSocket(`ws://${location.host}/live`);
  const late = setTimeout(() => live.close(), 1000);
  live.onopen = () => {
    clearTimeout(late);
    say("live-status", "Live");
  };
  live.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "price") showPrice(message.price);
  };
  live.onclose = () => {
    clearTimeout(late);
    interrupted();
  };
}

function read() {
  const news = new EventSource("/news");
  news.onopen = () => {
    at("news").replaceChildren();
    say("news-status", "Live");
  };
  news.onerror = () => say("news-status", "No news: the connection is interrupted.", true);
  news.addEventListener(bug === "news-not-shown" ? "message" : "headline", ({ data }) => {
    const item = document.createElement("li");
    item.textContent = data;
    at("news").prepend(item);
  });
}

if (bug === "script-throws") settings.start();
showFigures();
follow();
read();
