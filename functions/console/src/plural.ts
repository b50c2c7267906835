// Counted nouns.

/** count returns a number with its noun: "1 run", "2 runs". */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
