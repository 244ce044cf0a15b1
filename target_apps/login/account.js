const { bug } = document.documentElement.dataset;
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");

function say(text, failed = false) {
  status.textContent = text;
  status.className = failed ? "failed" : "";
}

// Where the session is over there is nothing to show: the person has to sign in again.
async function ask(method, path, body) {
  const json = body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...json, signal: AbortSignal.timeout(1000) });
  if (response.status === 401) location.assign("/sign-in");
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.status === 204 ? null : response.json();
}

function show(account) {
  document.querySelector("[data-testid=name]").textContent = account.name;
  document.querySelector("[data-testid=mail]").textContent = bug === "forgets-mail" ? account.email : account.mail;
  form.elements.nickname.value = account.nickname;
}

async function attempt(failure, work) {
  try {
    await work();
  } catch (error) {
    say(`${failure}: ${error.message}`, true);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  say("Saving…");
  attempt("Could not save", async () => {
    show(await ask("PUT", "/api/account/nickname", { nickname: form.elements.nickname.value }));
    say("Saved");
  });
});

document.querySelector("[data-testid=sign-out]").addEventListener("click", () => {
  attempt("Could not sign out", async () => {
    await ask("DELETE", "/api/session");
    location.assign("/sign-in?out");
  });
});

attempt("Loading failed", async () => {
  show(await ask("GET", "/api/account"));
  say("Loaded");
});
