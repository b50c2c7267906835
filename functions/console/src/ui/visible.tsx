// Shows a resource, or a sign-in form when only signed-in readers may see it.
import type { ComponentChildren } from "preact";
import type { Loading } from "../data";
import { gone } from "../problem";
import { useSession } from "../session";
import { Heading, Loaded } from "./show";
import { SignIn } from "./sign_in_form";

const hidden = [401, 404]; // what the server answers about a resource that exists only for some users

/**
 * Visible shows its children once the data is read, like Loaded. Somebody who is signed out and does not find the
 * resource can sign in, and stays at the address. Somebody who is signed in is told why the resource may be missing.
 */
export function Visible<T>({
  of,
  title,
  children,
}: {
  of: Loading<T>;
  title: string;
  children: (data: T) => ComponentChildren;
}) {
  const { signedIn } = useSession();
  const locked = !signedIn && hidden.includes(of.error?.document.status ?? 0);
  if (locked)
    return (
      <>
        <Heading title={title}>{title}</Heading>
        <p>Nothing is public at this address. If you take part or organize, sign in: you stay at this address.</p>
        <SignIn />
      </>
    );
  if (gone(of.error))
    return (
      <>
        <Heading title={title}>{title}</Heading>
        <p class="empty" role="status">
          There is nothing here, or nothing that you may see. It may have been deleted, or its team or the organizers
          may not show it to you.
        </p>
      </>
    );
  return (
    <Loaded of={of} title={title}>
      {children}
    </Loaded>
  );
}
