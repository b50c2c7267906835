// The ways to sign in on this server.
import { useState } from "preact/hooks";
import { settings } from "../settings";
import { developmentSignIn, enter, leave } from "../sign_in";
import { Check, Text } from "./fields";
import { Form } from "./form";
import { Action } from "./show";
import type { Values } from "./values";

/**
 * SignIn signs in and returns to the address in after. With again, it opens the issuer in another tab, and leaves the
 * page unchanged.
 */
export function SignIn({ again, after = location.hash }: { again?: boolean; after?: string }) {
  const [pasting, setPasting] = useState(!settings.client_id && !settings.development);
  const popup = (): void => {
    open(`${location.pathname}#/sign-in?closes=1`, "_blank");
  };
  const development = (v: Values): Promise<void> => developmentSignIn(String(v.user), Boolean(v.admin));
  const paste = (v: Values): Promise<void> => enter({ token: String(v.token).trim() });
  return (
    <div class="sign-in">
      {settings.problem && <p role="alert">{settings.problem}</p>}
      {settings.development && (
        <Form name="sign-in" initial={{ user: "" }} button="Sign in" submit={development}>
          {f => (
            <>
              <Text
                f={f}
                name="user"
                label="User"
                required
                max={100}
                autocomplete="username"
                hint="This server is for trying out: it signs in any name."
              />
              <Check f={f} name="admin" label="As an administrator of this server" />
            </>
          )}
        </Form>
      )}
      {settings.client_id &&
        !settings.problem &&
        (again ? (
          <p>
            <button type="button" onClick={popup}>
              Sign in again
            </button>
          </p>
        ) : (
          <Action run={() => leave(after, false)}>Sign in at {new URL(settings.issuer).host}</Action>
        ))}
      {pasting ? (
        <Form name="" initial={{ token: "" }} button="Use this token" submit={paste}>
          {f => (
            <Text
              f={f}
              name="token"
              type="password"
              label="Access token"
              required
              hint={
                <>
                  A token of this server, or one of <code>{settings.issuer}</code>.
                </>
              }
            />
          )}
        </Form>
      ) : (
        <p class="small">
          <button type="button" class="plain" onClick={() => setPasting(true)}>
            Use an access token instead
          </button>
        </p>
      )}
    </div>
  );
}
