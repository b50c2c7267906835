// Files that are there, with links to those that the reader may have.
import type { Schemas } from "../api";

type File = Schemas["File"];

/** bytes says a size. */
export const bytes = (size: number | undefined): string =>
  size === undefined
    ? ""
    : size < 1000
      ? `${size} B`
      : size < 1e6
        ? `${(size / 1e3).toFixed(1)} kB`
        : size < 1e9
          ? `${(size / 1e6).toFixed(1)} MB`
          : `${(size / 1e9).toFixed(2)} GB`;

export const FileName = ({ of: f, url = f.url }: { of: File; url?: string }) => (
  <>
    {url ? (
      <a href={url}>
        <bdi>{f.name}</bdi>
      </a>
    ) : (
      <bdi>{f.name}</bdi>
    )}{" "}
    <span class="small quiet">{bytes(f.size)}</span>
  </>
);

export const Files = ({ of }: { of: File[] }) => (
  <ul>
    {of.map(f => (
      <li key={f.name}>
        <FileName of={f} />
        {f.state === "pending" && <span class="small quiet">, not uploaded yet</span>}
      </li>
    ))}
  </ul>
);
