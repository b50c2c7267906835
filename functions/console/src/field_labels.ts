// Labels of fields that texts name also on pages without these fields, such as advice for a dataset on the page of its task.

/** fieldLabels holds the labels by member. */
export const fieldLabels = {
  perDay: "Runs of a team in 24 hours",
  total: "Runs of a team in all",
  scores: "Scores",
  columns: "Measures",
};

/** scoresLabels holds the labels of when scores are shown. */
export const scoresLabels = {
  live: "As soon as reviews allow",
  afterClose: "After the close: until then teams see only whether runs are valid",
};

/** splitLabels returns the labels of splits, which say when teams see scores. scores says when the dataset shows scores. */
export function splitLabels(scores: unknown): Record<string, string> {
  const closed = scores === "afterClose";
  return {
    test: `Test: teams see scores once you unblind their run${closed ? ", after the close" : ""}`,
    validation: `Validation: teams see their scores ${closed ? "after the close" : "at once"}`,
    training: "Training: the ground truth may be given out",
  };
}

/** choiceLabels holds the labels of values by the member that has them, for texts that tell a change of the member. */
export const choiceLabels: Record<string, Record<string, string>> = {
  scores: scoresLabels,
  mode: {
    open: "Everyone, at once",
    approval: "Those whom an organizer accepts",
    closed: "Those whom an organizer invites",
  },
  publish: { onReview: "Once an organizer publishes them", onCompletion: "As soon as they are evaluated" },
  inputsFor: { anyone: "Everyone who sees the task", registrants: "Teams that take part, once accepted" },
};

const all: Record<string, string> = { ...fieldLabels, ...scoresLabels };

/** labelElsewhere returns the label in quotes, or undefined for members and values without one. */
export const labelElsewhere = (name: string): string | undefined => (all[name] ? `“${all[name]}”` : undefined);
