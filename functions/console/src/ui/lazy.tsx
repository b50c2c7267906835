// Parts that are loaded when they are first shown.
import { lazy, Suspense } from "preact/compat";
import { loadPart } from "../parts";

const Source = ({ source }: { source: string; top?: number }) => <p class="prose before">{source}</p>;

const Tree = lazy(() => loadPart(() => import("./markdown")).catch(() => ({ default: Source })));

/** Markdown shows a text of a user. It shows the source until the parser is loaded, and if it cannot be loaded. */
export const Markdown = ({ source, top = 2 }: { source: string; top?: number }) => (
  <Suspense fallback={<Source source={source} />}>
    <Tree source={source} top={top} />
  </Suspense>
);
