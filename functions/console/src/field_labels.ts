// Labels of fields that texts name also on pages without these fields, such as advice for a dataset on the page of its task.
import { firstFrom, fromInWords, type Rule } from "./column_rules";

/** fieldLabels holds the labels by member. */
export const fieldLabels = {
  perDay: "Runs of a team in 24 hours",
  total: "Runs of a team in all",
  columns: "When scores are seen",
};

/** splitLabels returns the labels of splits, which say when teams see scores in the first of the columns. */
export function splitLabels(columns: Rule[]): Record<string, string> {
  return { ...shownOf(firstFrom(columns, "team")), training: "Training: the ground truth may be given out" };
}

/** shownOf returns the labels of the splits with rules for scores. first is from firstFrom. */
function shownOf(first: string): { test: string; validation: string } {
  if (first === "never")
    return { test: "Test: only organizers see scores", validation: "Validation: only organizers see scores" };
  if (first === "publication")
    return {
      test: "Test: teams see scores once you unblind and publish their run",
      validation: "Validation: teams see scores once you publish their run",
    };
  const since = fromInWords(first);
  return {
    test: `Test: teams see scores once you unblind their run${since && `, ${since}`}`,
    validation: `Validation: teams see scores ${since || "at once"}`,
  };
}

/** choiceLabels holds the labels of values by the member that has them, for texts that tell a change of the member. */
export const choiceLabels: Record<string, Record<string, string>> = {
  mode: {
    open: "Everyone, at once",
    approval: "Those whom an organizer accepts",
    closed: "Those whom an organizer invites",
  },
  publish: { onReview: "Once an organizer publishes them", onCompletion: "As soon as they are evaluated" },
  inputsFor: { anyone: "Everyone who sees the task", registrants: "Teams that take part, once accepted" },
};

const all: Record<string, string> = fieldLabels;

/** labelElsewhere returns the label in quotes, or undefined for members and values without one. */
export const labelElsewhere = (name: string): string | undefined => (all[name] ? `“${all[name]}”` : undefined);
