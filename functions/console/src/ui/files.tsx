// Stored files, with links to the files that the reader may download.
import type { Schemas } from "../api";

type File = Schemas["File"];

/** bytes returns a size with its unit, and an empty text for an unknown size. */
export function bytes(size: number | undefined): string {
  if (size === undefined) return "";
  if (size < 1000) return `${size} B`;
  if (size < 1e6) return `${(size / 1e3).toFixed(1)} kB`;
  if (size < 1e9) return `${(size / 1e6).toFixed(1)} MB`;
  return `${(size / 1e9).toFixed(2)} GB`;
}

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
