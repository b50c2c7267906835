// Markdown as elements. The parser returns a tree and never HTML, so that no text of a user can become markup.

import type { Nodes, Parent, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { tooComplex } from "./markdown_limits";

/** MarkdownTree shows Markdown. Its first headings have the level top. */
export default function MarkdownTree({ source, top }: { source: string; top: number }) {
  const tree = useMemo(() => parse(source), [source]);
  return tree ? <div class="prose">{inside(tree, top)}</div> : <p class="prose before">{source}</p>;
}

const parse = (source: string): Root | undefined =>
  tooComplex(source) ? undefined : fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

const inside = (n: Parent, top: number): ComponentChildren =>
  n.children.map((child, i) => <Node key={i} n={child} top={top} />);

/** safe returns an address of a page or a mailbox, and undefined for other addresses. */
function safe(url: string): string | undefined {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(url, location.origin).protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

const names = {
  paragraph: "p",
  emphasis: "em",
  strong: "strong",
  delete: "del",
  blockquote: "blockquote",
  listItem: "li",
};

function Node({ n, top }: { n: Nodes; top: number }) {
  switch (n.type) {
    case "text":
    case "html":
      return <>{n.value}</>;
    case "paragraph":
    case "emphasis":
    case "strong":
    case "delete":
    case "blockquote":
    case "listItem": {
      const Name = names[n.type] as "p";
      return <Name>{inside(n, top)}</Name>;
    }
    case "heading": {
      const H = `h${Math.min(n.depth + top - 1, 6)}` as "h3";
      return <H>{inside(n, top)}</H>;
    }
    case "inlineCode":
      return <code>{n.value}</code>;
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{n.value}</code>
        </pre>
      );
    case "list":
      return n.ordered ? <ol start={n.start ?? 1}>{inside(n, top)}</ol> : <ul>{inside(n, top)}</ul>;
    case "thematicBreak":
      return <hr />;
    case "break":
      return <br />;
    case "link":
      return (
        <a href={safe(n.url)} rel="nofollow noopener noreferrer">
          {inside(n, top)}
        </a>
      );
    case "image":
      return (
        <a href={safe(n.url)} rel="nofollow noopener noreferrer">
          {n.alt || n.url}
        </a>
      ); // Loading the image would reveal the reader to its server.
    case "table": {
      const [head, ...rows] = n.children;
      return (
        <div class="scroll" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {head?.children.map((c, i) => (
                  <th key={i} scope="col">
                    {inside(c, top)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r, i) => (
                <tr key={i}>
                  {r.children.map((c, j) => (
                    <td key={j}>{inside(c, top)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    default:
      return "children" in n ? inside(n as Parent, top) : null;
  }
}
