// Parts that are loaded when they are first shown.
import { lazy, Suspense } from "preact/compat";

const Tree = lazy(() => import("./markdown"));

/** Markdown shows a text of a user. It shows the source until the parser is loaded. */
export const Markdown = ({ source, top = 2 }: { source: string; top?: number }) => (
  <Suspense fallback={<p class="prose before">{source}</p>}>
    <Tree source={source} top={top} />
  </Suspense>
);
