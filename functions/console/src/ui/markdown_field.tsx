// The field of a text in Markdown, with a preview.
import type { ComponentProps } from "preact";
import { Area } from "./fields";
import { Markdown } from "./lazy";
import { member } from "./values";

export const MarkdownField = ({ top = 4, ...field }: ComponentProps<typeof Area> & { top?: number }) => {
  const source = String(member(field.f.values, field.name) ?? "");
  return (
    <>
      <Area
        rows={8}
        {...field}
        hint={
          <>
            {field.hint} In{" "}
            <a href="https://commonmark.org/help/" rel="noopener noreferrer">
              Markdown
            </a>
            : # for headings, **bold**, - for lists.
          </>
        }
      />
      {source && (
        <details>
          <summary>How it will look: {field.label}</summary>
          <Markdown source={source} top={top} />
        </details>
      )}
    </>
  );
};
