const { bug } = document.documentElement.dataset;
const address = `/api/lists/${location.pathname.split("/").pop()}/items`;
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");
let todos = [];

async function ask(method, path, body) {
  const json = body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...json, signal: AbortSignal.timeout(1000) });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.status === 204 ? null : response.json();
}

function say(text, failed = false) {
  status.textContent = text;
  status.className = failed ? "failed" : "";
}

function line(todo) {
  const item = document.createElement("li");
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = todo.done;
  box.addEventListener("change", () => tick(todo, box.checked));
  label.append(box, " ", todo.text);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Delete";
  button.setAttribute("aria-label", `Delete ${todo.text}`);
  button.addEventListener("click", () => remove(todo));
  item.append(label, button);
  return item;
}

function show() {
  const open = bug === "counts-done" ? todos : todos.filter(({ done }) => !done);
  document.querySelector("ul").replaceChildren(...todos.map(line));
  document.querySelector("[data-testid=left]").textContent = `${open.length} left`;
}

// Says "Saved" when the server has said so, and never else; what is shown is what is known to be stored.
async function save(write) {
  say("Saving…");
  try {
    await write();
    say("Saved");
  } catch (error) {
    say(`Could not save: ${error.message}`, true);
  }
  show();
}

function store(text) {
  if (bug === "says-saved-unsent") return { id: "unsent", text, done: false };
  return ask("POST", address, { text });
}

const add = (text) =>
  save(async () => {
    todos.push(await store(text));
    if (bug === "adds-twice") todos.push(await store(text));
  });

const tick = (todo, done) =>
  save(async () => {
    const answer = await ask("PATCH", `${address}/${todo.id}`, bug === "tick-without-value" ? {} : { done });
    todo.done = answer.done;
  });

const remove = (todo) =>
  save(async () => {
    await ask("DELETE", `${address}/${todo.id}`);
    todos = todos.filter((other) => other !== todo);
  });

async function load() {
  try {
    todos = (await ask("GET", address)).items;
    show();
    say("Loaded");
  } catch (error) {
    say(`Loading failed: ${error.message}`, true);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = form.elements.text.value.trim();
  form.reset();
  if (text) add(text);
});

load();
