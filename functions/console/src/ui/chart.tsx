// The picture of a tool. A request with the token gets it, because the address of an image would send no token.
import { useEffect, useState } from "preact/hooks";
import { type Problem, toProblem } from "../problem";
import { fetchAs } from "./download";
import { Failure } from "./show";

export function Chart({ tool, input, alt }: { tool: string; input: object; alt: string }) {
  const [shown, show] = useState<string | Problem>("");
  useEffect(() => {
    let over = false;
    const made = fetchAs(`/v1/tools/${tool}`, "image/svg+xml", input).then(svg => URL.createObjectURL(svg));
    void made.catch(toProblem).then(now => over || show(now));
    return () => {
      over = true;
      void made.then(
        at => URL.revokeObjectURL(at),
        () => undefined,
      );
    };
  }, [tool, JSON.stringify(input)]);
  if (typeof shown !== "string") return <Failure of={shown} />;
  return (
    <div class="scroll picture" tabIndex={0} role="group" aria-label="Chart">
      {shown && <img src={shown} alt={alt} />}
    </div>
  );
}
