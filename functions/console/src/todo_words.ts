// What an entry of the inbox is about, in words.
import type { Schemas } from "./api";
import { ago } from "./ui/time";

type Todo = Pick<Schemas["Todo"], "kind" | "again" | "since">;

/** happened says what made an entry, and when. The evaluation of an old run can be a new one. */
export function happened({ kind, again, since }: Todo): string {
  switch (kind) {
    case "run.unreviewed":
      return `evaluated${again ? " again" : ""} ${ago(since)}`;
    case "run.failed":
      return `failed ${again ? "when it was evaluated again, " : ""}${ago(since)}`;
    case "workers.missing":
      return `began to wait ${ago(since)}`;
    case "registration.pending":
      return `registered ${ago(since)}`;
  }
}
