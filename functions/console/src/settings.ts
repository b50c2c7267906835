// The settings that the server writes into the page. They tell how users sign in.
export type Settings = {
  issuer: string;
  development: boolean;
  client_id?: string;
  problem?: string;
  authorization_endpoint?: string;
  token_endpoint?: string;
  scopes_supported?: string[] | null;
};

export const root = document.getElementById("console")!;
export const settings = JSON.parse(root.dataset.settings ?? "{}") as Settings;
