// Choices outside of forms. They take effect at once, and select the part of a screen that is shown.
import type { ComponentChildren } from "preact";
import type { Schemas } from "../api";
import { useList } from "../data";
import { refresh } from "../refresh";
import { view } from "../route";
import { Items } from "./show";

type Choosing = { label: string; options: Record<string, string>; value: string; choose: (value: string) => void };

/** Tabs shows buttons. One of them is pressed. */
export const Tabs = ({ label, options, value, choose }: Choosing) => (
  <p class="tabs" role="group" aria-label={label}>
    {Object.entries(options).map(([name, said]) => (
      <button key={name} type="button" aria-pressed={name === value} onClick={() => choose(name)}>
        <bdi>{said}</bdi>
      </button>
    ))}
  </p>
);

export const Select = ({ id, label, options, value, choose }: Choosing & { id: string }) => (
  <p class="field">
    <label for={id}>{label}</label>
    <select id={id} value={value} onChange={e => choose(e.currentTarget.value)}>
      {Object.entries(options).map(([name, said]) => (
        <option key={name} value={name}>
          {said}
        </option>
      ))}
    </select>
  </p>
);

/** SelectAll ticks all items of a list, or none. */
export const SelectAll = ({ ids, chosen, tick }: { ids: string[]; chosen: number; tick: (ids: string[]) => void }) => (
  <label>
    <input type="checkbox" checked={chosen === ids.length} onChange={e => tick(e.currentTarget.checked ? ids : [])} />{" "}
    {ids.length === 1 ? "Select this one" : `Select all ${ids.length}`}
  </label>
);

type Dataset = Schemas["Dataset"];
type OfDataset = {
  taskId: string;
  query: URLSearchParams;
  empty: ComponentChildren;
  first?: (all: Dataset[]) => Dataset | undefined;
};

/**
 * OneDataset shows its children for one dataset of a task: the dataset in the address, or otherwise the first. Choosing
 * the dataset that is shown reads everything on the screen again.
 */
export function OneDataset({
  taskId,
  query,
  empty,
  first,
  children,
}: OfDataset & { children: (d: Dataset) => ComponentChildren }) {
  const datasets = useList("/v1/datasets", { query: { "filter[taskId]": [taskId] } });
  return (
    <Items of={datasets} empty={empty}>
      {all => {
        const at = all.find(d => d.id === query.get("dataset")) ?? first?.(all) ?? all[0]!;
        const choose = (dataset: string): void =>
          view(query, { dataset, sort: undefined, columns: undefined, against: undefined });
        return (
          <>
            {all.length > 1 && (
              <Tabs
                label="Dataset"
                options={Object.fromEntries(all.map(d => [d.id, d.name]))}
                value={at.id}
                choose={id => (id === at.id ? void refresh() : choose(id))}
              />
            )}
            {children(at)}
          </>
        );
      }}
    </Items>
  );
}
