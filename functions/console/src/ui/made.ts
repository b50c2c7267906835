// A resource with a secret that is shown once, to the reader who made it.
import { useState } from "preact/hooks";
import type { Listing } from "../data";

type Resource = { id: string };

/**
 * useMade returns the resource that the reader made last, as long as the list of resources that work has it. show reads
 * the list, too.
 */
export function useMade<T extends Resource>(
  all: Listing<Resource>,
): [made: T | undefined, show: (made: T) => Promise<void>] {
  const [made, setMade] = useState<T>();
  const [listed, setListed] = useState<string>(); // the id of made once the list was read with it
  const show = async (next: T): Promise<void> => {
    setMade(next);
    await all.reload();
    setListed(next.id);
  };
  const works = made?.id !== listed || all.error || all.items?.some(i => i.id === made?.id);
  return [works ? made : undefined, show];
}
