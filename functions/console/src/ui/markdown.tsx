// Markdown as elements. It is parsed into a tree and never into HTML, so that no text of a user can become markup.
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { Nodes, Parent, Root } from "mdast";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

/** MarkdownTree shows Markdown; its headings stand below those of the page. */
export default function MarkdownTree({ source }: { source: string }) {
  const tree = useMemo<Root>(() => fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }), [source]);
  return <div class="prose">{inside(tree)}</div>;
}

const inside = (n: Parent): ComponentChildren => n.children.map((child, i) => <Node key={i} n={child} />);

/** safe returns a link that leads to a page or a mailbox; others are none. */
function safe(url: string): string | undefined {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(url, location.origin).protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

function Node({ n }: { n: Nodes }) {
  switch (n.type) {
    case "text": return <>{n.value}</>;
    case "paragraph": return <p>{inside(n)}</p>;
    case "heading": {
      const H = `h${Math.min(n.depth + 2, 6)}` as "h3";
      return <H>{inside(n)}</H>;
    }
    case "emphasis": return <em>{inside(n)}</em>;
    case "strong": return <strong>{inside(n)}</strong>;
    case "delete": return <del>{inside(n)}</del>;
    case "inlineCode": return <code>{n.value}</code>;
    case "code": return <pre tabIndex={0}><code>{n.value}</code></pre>;
    case "blockquote": return <blockquote>{inside(n)}</blockquote>;
    case "list": return n.ordered ? <ol start={n.start ?? 1}>{inside(n)}</ol> : <ul>{inside(n)}</ul>;
    case "listItem": return <li>{inside(n)}</li>;
    case "thematicBreak": return <hr />;
    case "break": return <br />;
    case "link": return <a href={safe(n.url)} rel="nofollow noopener noreferrer">{inside(n)}</a>;
    case "image": return <a href={safe(n.url)} rel="nofollow noopener noreferrer">{n.alt || n.url}</a>; // what it loads would tell who reads
    case "html": return <>{n.value}</>;
    case "table": {
      const [head, ...rows] = n.children;
      return (
        <div class="scroll" tabIndex={0}>
          <table>
            <thead><tr>{head?.children.map((c, i) => <th key={i} scope="col">{inside(c)}</th>)}</tr></thead>
            <tbody>{rows.map((r, i) => <tr key={i}>{r.children.map((c, j) => <td key={j}>{inside(c)}</td>)}</tr>)}</tbody>
          </table>
        </div>
      );
    }
    default: return "children" in n ? <>{inside(n as Parent)}</> : null;
  }
}
