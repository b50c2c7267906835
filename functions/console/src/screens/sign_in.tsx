import { useEffect } from "preact/hooks";
import { go, type Screen } from "../route";
import { useSession } from "../session";
import { settings } from "../settings";
import { leave } from "../sign_in";
import { Heading } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";

/** The screen to sign in. With closes in the query, another tab has opened this tab only to sign in. */
export default function SignInScreen({ query }: Screen) {
  const { signedIn } = useSession();
  const closes = query.has("closes");
  useEffect(() => {
    if (closes && settings.client_id) void leave("#/", true);
  }, []);
  useEffect(() => {
    if (signedIn && !closes && location.hash.startsWith("#/sign-in")) go(query.get("to") ?? "/");
  }, [signedIn]);
  return (
    <>
      <Heading title="Sign in">Sign in</Heading>
      <SignIn after={`#${query.get("to") ?? "/"}`} />
    </>
  );
}
