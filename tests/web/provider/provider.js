// An OpenID provider on loopback: `node provider.js FACTS`, with FACTS as JSON.
//
// FACTS has `port`, `client` (its metadata) and `people`: the claims of each by login.
// It writes the line `listening` when it takes connections. Its pages take any password.

import Provider from 'oidc-provider';

const { port, client, people } = JSON.parse(process.argv[2]);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [client],
  claims: {
    openid: ['sub', 'sid'],
    profile: ['name', 'preferred_username'],
    email: ['email', 'email_verified'],
    groups: ['groups'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  features: { backchannelLogout: { enabled: true } },
  pkce: { required: () => true },
  // It calls no machine of its own network by default, and waits for 2.5 s. The service
  // under test is on loopback, and slow on a busy machine: this one address is let through.
  fetch: (url, { dispatcher, signal, ...options }) => globalThis.fetch(
    url,
    url === client.backchannel_logout_uri
      ? { ...options, signal: AbortSignal.timeout(60_000) }
      : { ...options, dispatcher, signal },
  ),
  findAccount: (ctx, login) => people[login] && {
    accountId: login,
    claims: () => ({ sub: login, ...people[login] }),
  },
});

for (const event of [
  'authorization.error',
  'grant.error',
  'userinfo.error',
  'end_session.error',
  'backchannel.error',
  'server_error',
]) {
  provider.on(event, (...facts) => {
    for (const fact of facts) {
      if (fact instanceof Error) console.error(event, fact);
    }
  });
}

provider.listen(port, '127.0.0.1', () => console.log('listening'));
