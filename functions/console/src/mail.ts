// Whether the server sends e-mails.
import { useGet } from "./data";

/** useMail reports whether the server sends e-mails. It returns false until the server has said so. */
export const useMail = (): boolean => useGet("/info", {}).data?.mail ?? false;
