// Parts that are loaded when they are first shown.
import { lazy, Suspense } from "preact/compat";

const Tree = lazy(() => import("./markdown"));

/** Markdown shows a text that a user wrote; as it stands until its reader has loaded. */
export const Markdown = ({ source, top = 2 }: { source: string; top?: number }) => (
  <Suspense fallback={<p class="prose before">{source}</p>}>
    <Tree source={source} top={top} />
  </Suspense>
);
