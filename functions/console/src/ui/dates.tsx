// The openings and closes of a task and its datasets.
import type { Stage, StageDate } from "../stage";
import { Deadline } from "./time";

const words: Record<Stage, string> = { open: "Submissions until", upcoming: "Opens", past: "Closed" };

/** DateOf shows an opening or a close, after the name of its dataset. */
export const DateOf = ({ of: { name, at, until }, stage }: { of: StageDate; stage: Stage }) => (
  <>
    {name && (
      <>
        <bdi>{name}</bdi>:{" "}
      </>
    )}
    {at ? (
      <>
        {words[stage]} <Deadline at={at} />
        {until && (
          <>
            , closes <Deadline at={until} />
          </>
        )}
      </>
    ) : (
      "No deadline"
    )}
  </>
);
