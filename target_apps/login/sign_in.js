const form = document.querySelector("form");
const status = document.querySelector("[role=status]");

function say(text, failed = false) {
  status.textContent = text;
  status.className = failed ? "failed" : "";
}

async function signIn() {
  const response = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(Object.fromEntries(new FormData(form))),
    signal: AbortSignal.timeout(1000),
  });
  if (response.status === 401) return say("The name or the password is wrong.", true);
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  location.assign("/account");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  say("Signing in…");
  try {
    await signIn();
  } catch (error) {
    say(`Could not sign in: ${error.message}`, true);
  }
});

if (location.search === "?out") say("You are signed out.");
