// The name of a column outside a leaderboard.
import { type Column, columnName } from "../columns";

/** ColumnName shows the name of a column, and which measure it has if the column has a title. */
export const ColumnName = ({ of: c }: { of: Column }) => {
  if (!c.title && !c.group) return <code>{c.key}</code>;
  return (
    <>
      <bdi>{columnName(c)}</bdi> {c.title && <code class="small">{c.key}</code>}
    </>
  );
};
