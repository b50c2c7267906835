"use strict";
(() => {
  const element = id => document.getElementById(id), attempts = "sign-in";
  const issuer = JSON.parse(element("sign-in").dataset.issuer), here = location.origin + location.pathname;
  // Of groups, which give roles, a scope is asked for where the issuer has one.
  const scope = ["openid", "email", "profile", ...(issuer.scopes_supported ?? []).filter(name => name === "groups")].join(" ");
  const say = (text, where = "status") => { element(where).textContent = text; };
  const base64url = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
  const claims = token => JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  const instant = date => date.toLocaleString([], { dateStyle: "long", timeStyle: "short" });

  // ask sends a request, and throws what a person can do about an answer that is an error.
  const ask = async (url, options, unread) => {
    let response, body;
    try {
      response = await fetch(url, { ...options, credentials: "omit", redirect: "error", signal: AbortSignal.timeout(20000) });
      body = await response.json();
    } catch {
      throw new Error(unread);
    }
    if (response.ok) return body;
    if (body.error) throw new Error(refusal(body.error, body.error_description));
    throw new Error([body.detail ?? body.message ?? response.status, ...(body.errors ?? []).map(e => `${e.pointer ?? ""} ${e.detail ?? ""}`)].join(" "));
  };
  const call = (path, token, body) => ask(path, body
    ? { method: "POST", headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) }, body: JSON.stringify(body) }
    : { headers: { Authorization: `Bearer ${token}` } }, "This server did not answer. Try again in a few seconds.");
  const refusal = (code, description) => `The issuer refused: ${code}${description ? ` (${description})` : ""}. Sign in again. If it refuses again, ` +
    `those who run this server check at the issuer that the client ${issuer.client_id} is public, takes codes with PKCE and the scopes ` +
    `“${scope}”, and may return to ${here}.`;

  // begin keeps in this tab what the answer is checked by, and leaves for the issuer.
  const begin = async () => {
    if (!isSecureContext) throw new Error("Browsers sign in over https alone, or at localhost. Open this page there.");
    const attempt = { state: random(), nonce: random(), verifier: random(), invitation };
    const challenge = base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(attempt.verifier)));
    sessionStorage.setItem(attempts, JSON.stringify(attempt));
    const url = new URL(issuer.authorization_endpoint);
    for (const [name, value] of Object.entries({
      response_type: "code", client_id: issuer.client_id, redirect_uri: here, scope, state: attempt.state, nonce: attempt.nonce,
      code_challenge: challenge, code_challenge_method: "S256",
    })) url.searchParams.set(name, value);
    location.assign(url);
  };

  // finish exchanges the code of the issuer's answer. Of its tokens it takes the one that this server accepts.
  const finish = async (answer, attempt) => {
    if (!attempt || answer.get("state") !== attempt.state)
      throw new Error("This answer belongs to no sign-in that was begun in this tab, so it was not used. Sign in again.");
    if (answer.has("error")) throw new Error(refusal(answer.get("error"), answer.get("error_description")));
    const tokens = await ask(issuer.token_endpoint, { method: "POST", body: new URLSearchParams({
      grant_type: "authorization_code", code: answer.get("code"), redirect_uri: here, client_id: issuer.client_id, code_verifier: attempt.verifier,
    }) }, `The issuer's answer could not be read. Sign in again. If that does not help, those who run this server let pages of ` +
      `${location.origin} ask for tokens at the issuer (CORS).`);
    if (claims(tokens.id_token).nonce !== attempt.nonce) throw new Error("The issuer's token is of another sign-in, so it was not used. Sign in again.");
    await show(tokens.id_token).catch(error => show(tokens.access_token).catch(() => { throw error; }));
  };

  // show shows a token once this server has accepted it.
  let signedIn;
  const show = async token => {
    const user = await call("/v1/user", token);
    const end = new Date(claims(token).exp * 1000);
    signedIn = token;
    element("lines").textContent = `export ASSAY_URL=${location.origin}\nexport ASSAY_TOKEN=${token}`;
    say(`Signed in as ${user.name || user.id}. The token lasts until ${instant(end)}.`);
    element("begin").hidden = true;
    element("token").hidden = false;
    if (invitation) await invite();
  };

  // invite says what the invitation is to, and with which terms, before its user joins.
  let offered;
  const invite = async () => {
    element("join").hidden = false;
    try {
      offered = (await call("/v1/user/memberships?preview=true", signedIn, { secret: invitation })).resource;
    } catch (error) {
      say(`You cannot join: ${error.message}`, "invited");
      return;
    }
    const { organizerName, taskName, team, role, terms } = offered;
    say(!taskName ? `You are invited to be an ${role} of the organizer ${organizerName}.`
      : team ? `You are invited to the team ${team}, which takes part in the task ${taskName} of ${organizerName}.`
      : `You are invited to take part in the task ${taskName} of ${organizerName}, with a team of yours.`, "invited");
    element("new").hidden = !taskName || Boolean(team);
    element("team").required = !element("new").hidden;
    element("terms").hidden = !terms;
    say(terms?.text ?? "", "terms-text");
    element("accept").required = Boolean(terms);
    element("joining").hidden = false;
  };

  const join = async form => {
    const team = form.get("team");
    const registration = !element("new").hidden && { team, ...(offered.terms && { acceptedTerms: offered.terms.version }) };
    const joined = await call("/v1/user/memberships", signedIn, { secret: invitation, ...(registration && { registration }) });
    say(`You have joined: ${location.origin}${joined.url}`, "joined");
  };

  const make = async form => {
    const made = await call("/v1/user/tokens", signedIn, {
      name: form.get("name"), scopes: [form.get("scope")], expiresAt: new Date(Date.now() + form.get("days") * 86400e3).toISOString(),
    });
    element("secret").textContent = `export ASSAY_TOKEN=${made.secret}`;
    say(`Made the access token ${made.name}, which lasts until ${instant(new Date(made.expiresAt))}. Its secret is shown this once.`, "outcome");
    element("made").hidden = false;
  };

  const enter = form => issuer.authorization_endpoint ? begin() : call("/dev/token", "", { user: form.get("user"), groups: form.getAll("groups") })
    .then(answer => show(answer.access_token));
  for (const [id, act, outcome] of [["begin", enter, "status"], ["own", make, "outcome"], ["join", join, "joined"]]) {
    element(id).addEventListener("submit", event => {
      event.preventDefault();
      act(new FormData(event.target)).catch(error => say(error.message, outcome));
    });
  }
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", async () => {
    const text = element(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected: copy it by keys";
    }
  });

  element("sign-in").hidden = false;
  const answer = new URLSearchParams(location.search), attempt = JSON.parse(sessionStorage.getItem(attempts));
  sessionStorage.removeItem(attempts);
  const invitation = location.hash.startsWith("#assay-invitation_") ? location.hash.slice(1) : attempt?.invitation;
  history.replaceState(null, "", location.pathname);
  if (answer.has("code") || answer.has("error")) {
    say("Signing in …");
    finish(answer, attempt).catch(error => say(error.message));
  }
})();
