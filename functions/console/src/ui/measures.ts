// The server's catalogue of measures.
import type { Schemas } from "../api";

type Family = Schemas["Family"];

/** familyOf returns the family of a measure by its name or an alias, such as nDCG for nDCG@10. */
export const familyOf = (families: Family[], measure: string): Family | undefined => {
  const name = measure.trim().split(/[@(]/, 1)[0]!;
  return families.find(m => [m.name, ...(m.aliases ?? [])].includes(name));
};

const cutoffs: Record<Family["cutoff"], string> = {
  none: "",
  "optional depth": "@10",
  "required depth": "@10",
  "required recall": "@0.1",
};

/** exampleOf returns a measure of the family with a usual cutoff. */
export const exampleOf = (family: Family): string => family.name + cutoffs[family.cutoff];
