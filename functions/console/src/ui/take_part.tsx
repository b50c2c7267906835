// The link to the registration of a new team, where teams can register.
import { notNow } from "../registration_words";
import { organizes } from "../roles";
import { registers } from "../stage";
import { useStages } from "../task_stages";
import type { OfTask } from "./task_nav";
import { Sentence } from "./time";

/** NotNow says why no team can register for a task now, and who can invite. */
export function NotNow({ task }: Pick<OfTask, "task">) {
  const past = useStages([task])?.(task).stage === "past";
  return <Sentence of={notNow(task.registration, past)} />;
}

/** TakePart links to the registration. If the reader cannot register now, it says why. Organizers can at any time. */
export const TakePart = ({ task, me }: OfTask) =>
  registers(task) || organizes(me, task.organizerId) ? (
    <a href={`#/tasks/${task.id}/join`}>Take part</a>
  ) : (
    <NotNow task={task} />
  );
