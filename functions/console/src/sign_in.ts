// Signing in with an authorization code and PKCE (RFC 6749, RFC 7636, OpenID Connect Core 1.0) at the issuer that the
// server names, and getting further tokens with a refresh token.
import * as oauth from "oauth4webapi";
import { problemOf } from "./problem";
import { asksWho, begin, type Session, session, signedIn } from "./session";
import { settings } from "./settings";

type Attempt = { state: string; nonce: string; verifier: string; hash: string; closes: boolean };

const attemptKey = "sign-in";
const here = location.origin + location.pathname;
const server: oauth.AuthorizationServer = {
  issuer: settings.issuer,
  authorization_endpoint: settings.authorization_endpoint,
  token_endpoint: settings.token_endpoint,
};
const client: oauth.Client = { client_id: settings.client_id ?? "" };
// On a laptop, the issuer uses http.
const options = {
  [oauth.allowInsecureRequests]: settings.issuer.startsWith("http:"),
  signal: () => AbortSignal.timeout(10_000),
};

/** scope asks for groups, which give roles, and for a refresh token, if the issuer has scopes for them. */
const scope = [
  "openid",
  "email",
  "profile",
  ...(settings.scopes_supported ?? []).filter(s => s === "groups" || s === "offline_access"),
];

/** leave navigates to the issuer, which returns to this page. closes says that the tab was opened only to sign in. */
export async function leave(hash: string, closes: boolean): Promise<void> {
  if (!isSecureContext) throw new Error("Browsers sign in only over https, or at localhost. Open the console there.");
  const attempt: Attempt = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    hash,
    closes,
  };
  sessionStorage.setItem(attemptKey, JSON.stringify(attempt));
  const to = new URL(settings.authorization_endpoint!);
  const query: Record<string, string> = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: here,
    scope: scope.join(" "),
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
  };
  if (scope.includes("offline_access")) query.prompt = "consent"; // OpenID Connect Core 1.0, section 11
  if (asksWho()) query.max_age = "0"; // Section 3.1.2.1: the issuer asks for a login despite a session of its own.
  for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value);
  location.assign(to);
}

/** arrive removes the issuer's answer from the address, and begins the session. It does nothing without an answer. */
export async function arrive(): Promise<void> {
  const answer = new URL(location.href);
  if (!answer.searchParams.has("code") && !answer.searchParams.has("error")) return;
  const attempt = JSON.parse(sessionStorage.getItem(attemptKey) ?? "null") as Attempt | null;
  sessionStorage.removeItem(attemptKey);
  history.replaceState(null, "", location.pathname + (attempt?.hash ?? ""));
  if (answer.searchParams.get("state") !== attempt?.state || !attempt) {
    throw new Error("This answer belongs to no sign-in that was begun in this tab, so it was not used. Sign in again.");
  }
  await exchange(answer, attempt).catch(error => {
    throw refusal(error);
  });
  if (attempt.closes) window.close();
}

async function exchange(answer: URL, attempt: Attempt): Promise<void> {
  const code = oauth.validateAuthResponse(server, client, answer, attempt.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    code,
    here,
    attempt.verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: attempt.nonce,
    requireIdToken: true,
  });
  let refused = "";
  for (const uses of ["id_token", "access_token"] as const) {
    try {
      return await enter(toSession(tokens, uses));
    } catch (error) {
      refused ||= (error as Error).message;
    }
  }
  throw new Error(refused);
}

/** enter begins a session with a token, unless the server refuses it. */
export async function enter(s: Session): Promise<void> {
  const answer = await fetch("/v1/user", { headers: { Authorization: `Bearer ${s.token}` } });
  const user = (await answer.json()) as { id: string };
  if (!answer.ok) throw new Error(problemOf(user, answer.status).message); // A Problem would ask to sign in.
  signedIn(user.id, s);
}

function toSession(tokens: oauth.TokenEndpointResponse, uses: "id_token" | "access_token", former?: Session): Session {
  const { user, since } = former ?? {};
  const s: Session = { token: tokens[uses] ?? tokens.access_token, uses, user, since };
  if (tokens.expires_in) s.expiresAt = Date.now() + tokens.expires_in * 1000;
  const next = tokens.refresh_token ?? former?.refresh;
  if (next) s.refresh = next;
  return s;
}

function refusal(error: unknown): Error {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    const why = error.error_description ? ` (${error.error_description})` : "";
    return new Error(
      `The issuer refused: ${error.error}${why}. Sign in again. If it refuses again, those who run this server ` +
        `check at the issuer that the client ${client.client_id} is public, takes codes with PKCE and the scopes ` +
        `“${scope.join(" ")}”, and may return to ${here}.`,
    );
  }
  if (error instanceof oauth.OperationProcessingError) {
    return new Error(
      "The issuer's answer is of another sign-in, or not as OpenID Connect has it, so it was not used: " +
        `${error.message}. Sign in again.`,
    );
  }
  if (error instanceof TypeError) {
    return new Error(
      "The issuer's answer could not be read. Sign in again. If that does not help, those who run this server let " +
        `pages of ${location.origin} ask for tokens at the issuer (CORS).`,
    );
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** freshToken returns the token for a request. It replaces a token that is about to expire, in one tab at a time. */
export async function freshToken(): Promise<string | undefined> {
  if (!dueForRefresh(session())) return session()?.token;
  await navigator.locks
    .request("assay-refresh", async () => {
      const s = session();
      if (!s || !dueForRefresh(s)) return;
      const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), s.refresh!, options);
      begin(toSession(await oauth.processRefreshTokenResponse(server, client, response), s.uses ?? "id_token", s));
    })
    .catch(() => {
      nextRefresh = Date.now() + 20_000; // The token works until it expires. Then the page asks to sign in.
    });
  return session()?.token;
}

let nextRefresh = 0;
const dueForRefresh = (s: Session | undefined): boolean =>
  Boolean(s?.refresh && s.expiresAt && s.expiresAt - Date.now() < 60_000 && Date.now() > nextRefresh);

/** developmentSignIn gets a token for a user of any name from the server's development issuer. */
export async function developmentSignIn(name: string, admin: boolean): Promise<void> {
  const answer = await fetch("/dev/token", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ user: name.trim(), groups: admin ? ["admins"] : [] }),
  });
  const body = (await answer.json()) as { access_token: string; expires_in: number };
  if (!answer.ok) throw problemOf(body, answer.status);
  await enter({ token: body.access_token, expiresAt: Date.now() + body.expires_in * 1000 });
}
