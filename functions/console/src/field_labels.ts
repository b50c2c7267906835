// Labels of fields that texts name also on pages without these fields, such as advice for a dataset on the page of its task.

/** fieldLabels holds the labels by member. */
export const fieldLabels = {
  perDay: "Runs of a team in 24 hours",
  total: "Runs of a team in all",
  scores: "Scores",
};

/** scoresLabels holds the labels of when scores are shown. */
export const scoresLabels = {
  live: "As soon as reviews allow",
  afterClose: "After the close: until then teams see only whether runs are valid",
};

const all: Record<string, string> = { ...fieldLabels, ...scoresLabels };

/** labelElsewhere returns the label in quotes, or undefined for members and values without one. */
export const labelElsewhere = (name: string): string | undefined => (all[name] ? `“${all[name]}”` : undefined);
