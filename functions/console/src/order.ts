// The order of names in lists.

/** compareNames orders names as people count: 2 before 10. */
export const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;
