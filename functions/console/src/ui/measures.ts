// The catalogue of measures that the server has.
import type { Schemas } from "../api";

type Family = Schemas["Family"];

/** familyOf returns what a measure is of, such as nDCG for nDCG@10. */
export const familyOf = (families: Family[], measure: string): Family | undefined => {
  const name = measure.trim().split(/[@(]/, 1)[0]!;
  return families.find(m => [m.name, ...(m.aliases ?? [])].includes(name));
};
