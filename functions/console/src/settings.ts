// What the server wrote into the page: how people sign in here.
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
