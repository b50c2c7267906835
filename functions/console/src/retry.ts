// When requests are repeated.

const attempts = 6;

/**
 * secondsBeforeRetry returns the seconds to wait before attempt + 1, or undefined if the request is not repeated. The
 * answer is undefined for a broken connection. A Retry-After of more than 30 seconds means a quota, and is not awaited.
 */
export function secondsBeforeRetry(answer: Response | undefined, attempt: number): number | undefined {
  if (attempt >= attempts) return undefined;
  const backoff = Math.min(2 ** attempt, 20);
  if (!answer || [502, 504].includes(answer.status)) return backoff;
  if (answer.status !== 503 && answer.status !== 429) return undefined;
  const after = Number(answer.headers.get("Retry-After") ?? backoff);
  return after <= 30 ? Math.max(after, 1) : undefined;
}

/**
 * canPass reports whether a failure with this status can pass without a change by anyone. The status is undefined if no
 * server answered. A refusal stays.
 */
export const canPass = (status: number | undefined): boolean =>
  status === undefined || status >= 500 || status === 408 || status === 429;
