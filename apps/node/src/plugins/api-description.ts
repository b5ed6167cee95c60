import { createRequire } from 'node:module'
import type { DocsOptions } from '@ratatosk/http/openapi'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** The description of the whole node in the OpenAPI document. */
export const description: DocsOptions = {
  title: 'Ratatosk node',
  version,
  description: [
    'HTTP API of a node of an optimistic rollup on Cardano.',
    'It is RPC over HTTP: some GET requests change state, and these are served without HEAD.',
    'Every error body is JSON with the field `error`; a path that this node does not serve gets',
    '404 `{"error":"Not Found","code":"DISABLED"}`.',
    'Hex is accepted in either case and answered in lower case; amounts are decimal digits in strings.',
    'Cardano SDKs use layer 2 by the APIs of layer 1, which are not part of this document:',
    'Blockfrost at `/l2/blockfrost/api/v0`, Kupo at `/l2/kupo`, Ogmios at `/l2/ogmios`.',
    '`/l2/committed/…` and `/l2/merged/…` serve the same for committed and for merged blocks only.',
  ].join(' '),
  contact: { name: 'The Ratatosk authors', url: 'https://github.com/ratatosk-l2/ratatosk' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  tags: [
    { name: 'health', description: 'Whether the node is up and ready' },
    { name: 'transactions', description: 'Submit transactions and read their status' },
    { name: 'ledger', description: 'Transactions, addresses, unspent outputs and blocks of layer 2' },
    { name: 'explorer', description: 'What the node does and holds, for people who watch it' },
    { name: 'proofs', description: 'Merkle proofs against the roots that layer 1 holds' },
    { name: 'state queue', description: 'Committed blocks and wallets on layer 1' },
    { name: 'operators', description: 'Who may commit blocks, and what disputes their blocks' },
    { name: 'bridge', description: 'Deposits from layer 1, and withdrawals to it' },
    { name: 'faucet', description: 'Testnet ada' },
    { name: 'archivist', description: 'Block headers and bodies' },
    { name: 'operator', description: 'Operations that only the operator of the node may run' },
  ],
  tokens: {
    operatorToken: { description: 'The `OPERATOR_TOKEN` of the node' },
    faucetToken: { description: 'The `FAUCET_TOKEN` of the node, for server-to-server use' },
  },
}
