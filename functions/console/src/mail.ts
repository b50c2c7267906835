// Whether the server sends e-mails.
import { useGet } from "./data";

/** useMail reports whether the server sends e-mails. It returns undefined until the server has said so. */
export const useMail = (): boolean | undefined => useGet("/info", {}).data?.mail;
