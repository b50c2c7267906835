// The console: the frame around every screen, and the screen that the address names.
import "./style.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SWRConfig } from "swr";
import { useGet } from "./data";
import { useFresh } from "./fresh";
import { personOf } from "./known_names";
import { perVisit } from "./refresh";
import { useAddress } from "./route";
import { Current } from "./screen";
import { discard, signOut, useSession } from "./session";
import { root } from "./settings";
import { arrive } from "./sign_in";
import { SignIn } from "./ui/sign_in_form";
import { Status } from "./ui/status";

const SIGNED_IN = [
  ["#/", "Tasks"],
  ["#/runs", "My runs"],
  ["#/desk", "Organize"],
] as const;

const organizing = [
  /^\/(desk|trash|organizers|datasets)\b/,
  /^\/runs\/\w+\/review\b/,
  /^\/tasks\/(new|\w+\/(desk|edit|datasets|registrations|audit|webhooks))\b/,
];

/** areaOf returns the link of the navigation to which a path belongs. */
function areaOf(path: string): string {
  if (organizing.some(form => form.test(path))) return "#/desk";
  if (/^\/(runs|compare)/.test(path)) return "#/runs";
  return /^\/(tasks|$)/.test(path) ? "#/" : "";
}

function currentOf(to: string, path: string): "page" | "true" | undefined {
  if (to === `#${path}`) return "page";
  return to === areaOf(path) ? "true" : undefined;
}

/** signInAt returns the address that signs in and then shows the former address. */
function signInAt(hash: string): string {
  const to = hash.slice(1);
  return to && !to.startsWith("/sign-in") ? `#/sign-in?to=${encodeURIComponent(to)}` : hash || "#/sign-in";
}

function Frame({ failed }: { failed: string }) {
  const { signedIn, ended } = useSession();
  const { path } = useAddress();
  useFresh();
  return (
    <>
      <header class="top">
        <a
          class="skip"
          href={`#${path}`}
          onClick={event => {
            event.preventDefault();
            document.querySelector<HTMLElement>("main h1")?.focus();
          }}
        >
          Skip to the content
        </a>
        <div class="wide">
          <a class="brand" href="/">
            Assay
          </a>
          <nav aria-label="Console">
            {(signedIn ? SIGNED_IN : SIGNED_IN.slice(0, 1)).map(([to, name]) => (
              <a key={to} href={to} aria-current={currentOf(to, path)}>
                {name}
              </a>
            ))}
          </nav>
          {signedIn ? ended !== "signed out" && <Me /> : <a href={signInAt(location.hash)}>Sign in</a>}
        </div>
      </header>
      <main class="wide">
        {failed && (
          <div class="failure" role="alert">
            <p>{failed}</p>
          </div>
        )}
        {ended && (
          <section class="ended" aria-label="Sign in again">
            {ended === "refused" ? (
              <p role="alert">
                <strong>Your session has ended.</strong> Sign in again, and this page goes on where it is.
              </p>
            ) : (
              <p role="alert">
                <strong>You signed out in another tab.</strong> This page has input that is not sent, and hides it. Sign
                in again to go on with it.
              </p>
            )}
            <SignIn again />
            {ended === "signed out" && (
              <p>
                <button type="button" class="plain" onClick={discard}>
                  Discard the input
                </button>
              </p>
            )}
          </section>
        )}
        <div hidden={ended === "signed out"}>
          <Current />
        </div>
      </main>
      <Status />
    </>
  );
}

function Me() {
  const { data } = useGet("/v1/user", {});
  const admin = data?.roles.includes("admin");
  const { path } = useAddress();
  const current = (area: string): "page" | undefined => (path.startsWith(area) ? "page" : undefined);
  return (
    <nav aria-label="You" class="me">
      {admin && (
        <a href="#/admin" aria-current={current("/admin")}>
          Admin
        </a>
      )}
      <a href="#/me" aria-current={current("/me")}>
        <bdi>{(data && personOf(data)) || "You"}</bdi>
      </a>
      <button type="button" class="plain" onClick={signOut}>
        Sign out
      </button>
    </nav>
  );
}

/** takeInvitation moves the secret of an invitation from the address to the storage of the tab. */
function takeInvitation(): boolean {
  if (!location.hash.startsWith("#assay-invitation_")) return false;
  sessionStorage.setItem("invitation", location.hash.slice(1));
  history.replaceState(null, "", `${location.pathname}#/join`);
  return true;
}

function Console() {
  const [failed, setFailed] = useState<string>();
  useEffect(() => {
    takeInvitation();
    addEventListener("hashchange", () => takeInvitation() && location.reload());
    arrive().then(
      () => setFailed(""),
      (error: Error) => setFailed(error.message),
    );
  }, []);
  return failed === undefined ? null : <Frame failed={failed} />;
}

render(
  <SWRConfig
    value={{
      shouldRetryOnError: false,
      revalidateOnFocus: false, // useFresh reads all parts of a screen together.
      revalidateOnReconnect: false,
      dedupingInterval: 500, // A part that appears again on a screen is read again.
      keepPreviousData: false,
      use: [perVisit],
    }}
  >
    <Console />
  </SWRConfig>,
  root,
);
