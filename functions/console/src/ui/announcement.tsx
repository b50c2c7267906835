// An announcement of the organizers.
import type { Schemas } from "../api";
import { Markdown } from "./lazy";
import { When } from "./time";

/** Announcement shows title, time and text of an announcement. */
export const Announcement = ({ of: a }: { of: Schemas["Announcement"] }) => (
  <>
    <h3>
      <bdi>{a.title}</bdi>{" "}
      <span class="small quiet">
        <When at={a.createdAt} />
      </span>
    </h3>
    {a.body && <Markdown source={a.body} top={4} />}
  </>
);
