// An OpenID Connect issuer with a public client, assay: node issuer.mjs ISSUER. The client may return to any port of this machine, and sign
// in other devices. The form takes every name, whose ID tokens are for the client, and whose access tokens are for the audience assay-api.
import Provider from "oidc-provider";

const issuer = process.argv[2];
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "assay",
      redirect_uris: ["http://127.0.0.1/console", "http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
    },
  ],
  clientBasedCORS: (_, origin) => new URL(origin).hostname === "127.0.0.1",
  conformIdTokenClaims: false,
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
  scopes: ["openid", "profile", "email", "groups", "offline_access"],
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({
      sub,
      name: `${sub} of the lab`,
      email: `${sub}@lab.example`,
      email_verified: true,
      groups: sub === "root" ? ["admins"] : [],
    }),
  }),
  features: {
    deviceFlow: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => "https://api.lab.example",
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        audience: "assay-api",
        scope: "openid profile email groups",
        accessTokenFormat: "jwt",
      }),
    },
  },
  pkce: { required: () => true },
});
provider.listen(Number(new URL(issuer).port), "127.0.0.1");
