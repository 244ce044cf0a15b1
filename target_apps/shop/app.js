const { bug, api, third } = document.documentElement.dataset;
const customer = new URLSearchParams(location.search).get("customer") ?? "guest";
const form = document.querySelector("form");
let catalogue = [];
const at = (id) => document.querySelector(`[data-testid=${id}]`);

function say(where, text, failed = false) {
  at(where).textContent = text;
  at(where).className = failed ? "failed" : "";
}

class Refused extends Error {}

async function ask(path, options) {
  const response = await fetch(api + path, { ...options, signal: AbortSignal.timeout(1000) });
  if (!response.ok) throw new Refused(`the server answered ${response.status}`);
  return response.json();
}

function line(text, tag = "li") {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function showCatalogue() {
  const options = catalogue.map(({ id, name, price }) => {
    const option = line(`${name}, ${price.toFixed(2)}`, "option");
    option.value = id;
    return option;
  });
  form.elements.product.replaceChildren(...options);
  form.hidden = false;
}

const described = ({ quantity, name, total }) => `${quantity} × ${name}, ${total.toFixed(2)}`;

async function loadProducts() {
  try {
    catalogue = (await ask("/api/products")).products;
    showCatalogue();
    say("status", "Choose what you like.");
  } catch (error) {
    if (bug === "blank-on-failure") document.querySelector("main").replaceChildren();
    else say("status", `The catalogue cannot be loaded: ${error.message}`, true);
  }
}

async function loadOrders() {
  try {
    const { orders } = await ask(`/api/customers/${encodeURIComponent(customer)}/orders`);
    at("orders").replaceChildren(...orders.map((order) => line(described(order))));
    say("orders-status", orders.length ? "" : "None yet.");
  } catch (error) {
    say("orders-status", `Your orders cannot be loaded: ${error.message}`, true);
  }
}

const send = (wanted, key) =>
  ask("/api/orders", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    body: JSON.stringify({ customer, ...wanted }),
  });

// An answer that was lost may have been an order: sent again under its key it is the same one.
async function order(wanted) {
  const key = crypto.randomUUID();
  try {
    return await send(wanted, key);
  } catch (lost) {
    if (lost instanceof Refused) throw lost;
    return await send(wanted, bug === "keyless-retry" ? crypto.randomUUID() : key);
  }
}

function unsent({ product, quantity }) {
  const { name, price } = catalogue.find(({ id }) => id === product);
  return { name, quantity, total: price * quantity };
}

async function place(wanted) {
  say("status", "Ordering…");
  try {
    const placed = bug === "says-ordered-unsent" ? unsent(wanted) : await order(wanted);
    if (bug === "orders-twice") await order(wanted);
    say("status", `Ordered: ${described(placed)}`);
  } catch (error) {
    const unknown = error instanceof Refused ? "" : " Look at your orders before you try again.";
    say("status", `Could not order: ${error.message}.${unknown}`, true);
  }
  loadOrders();
}

// The shop is whole without any of these.
function callThirdParties() {
  navigator.sendBeacon(`${third}/telemetry`, JSON.stringify({ page: "shop" }));
  const banner = document.createElement("script");
  banner.src = `${third}/banner.js`;
  banner.async = true;
  const seal = document.createElement("img");
  seal.src = `${third}/seal.svg`;
  seal.alt = "Trusted shop";
  seal.width = seal.height = 32;
  document.head.append(banner);
  at("seal").append(seal);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  place({ product: form.elements.product.value, quantity: Number(form.elements.quantity.value) });
});

callThirdParties();
loadProducts();
loadOrders();
