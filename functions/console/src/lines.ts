// Single lines of a file that may be large.
import { isPacked } from "./upload";

const longest = 300;

/**
 * linesOf returns the texts of lines by their numbers, which count from 1. It reads and unpacks the file in pieces.
 */
export async function linesOf(file: Blob, numbers: number[]): Promise<Map<number, string>> {
  const wanted = new Set(numbers);
  const last = Math.max(0, ...numbers);
  const found = new Map<number, string>();
  const plain = (await isPacked(file)) ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const reader = plain.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let line = 0;
  while (line < last) {
    const { done, value } = await reader.read();
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : parts.pop()!;
    for (const text of parts) {
      line++;
      if (wanted.has(line)) found.set(line, text.slice(0, longest));
    }
    if (done) break;
  }
  await reader.cancel();
  return found;
}
