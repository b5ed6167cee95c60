import { toHex } from '@ratatosk/cbor'
import { hex, mutated, pick, type Random } from '@ratatosk/test-kit'
import type { Question } from '@ratatosk/test-kit/http'
import { payment } from '@ratatosk/test-kit/ledger-apis'

/** The values of requests: what the ledger knows, and much that is wrong. */
export interface Material {
  readonly hashes: readonly string[]
  readonly addresses: readonly string[]
  readonly blocks: readonly string[]
}

const odd = [
  ...['', '0', '-1', '1e309', 'null', '*', '__proto__', '%00', '%ff%fe', '%F0%9F%98%80', '%27%22', '..%2f'],
  ...['%0d%0aX:1', '%E0%A4%A', 'a'.repeat(2000), '9'.repeat(400)],
]
const paths = {
  '/blockfrost/api/v0': [
    ...['/', '/genesis', '/blocks/latest', '/blocks/latest/txs', '/blocks/X', '/blocks/X/txs', '/mempool'],
    ...[
      '/txs/X',
      '/txs/X/utxos',
      '/txs/X/cbor',
      '/txs/X/metadata',
      '/txs/X/metadata/cbor',
      '/txs/X/redeemers',
    ],
    ...[
      '/addresses/X',
      '/addresses/X/utxos',
      '/addresses/X/utxos/X',
      '/addresses/X/total',
      '/epochs/X/parameters',
    ],
    ...['/network', '/network/eras', '/addresses/X/extended', '/assets', '/accounts/X/addresses/assets'],
    ...['/metadata/txs/labels', '/metadata/txs/labels/X', '/metadata/txs/labels/X/cbor'],
    ...['/txs/X/stakes', '/txs/X/withdrawals', '/txs/X/required_signers', '/mempool/X', '/pools/X'],
    ...['/assets/X/X', '/assets/X/history', '/assets/X/transactions', '/assets/X/utxos', '/scripts/X/utxos'],
    ...['/blocks/X/next', '/blocks/X/previous', '/blocks/X/txs/cbor', '/blocks/slot/X', '/epochs/X'],
    ...['/epochs/X/blocks', '/accounts/X/transactions', '/accounts/X/addresses/total', '/addresses/X/txs'],
    ...['/accounts/X/registrations', '/accounts/X/withdrawals', '/scripts/X/redeemers'],
    ...['/addresses/X/utxos/lovelace', '/governance/proposals/X/X', '/governance/dreps/X'],
    ...['/addresses/X/transactions', '/assets/X', '/assets/X/addresses', '/assets/policy/X', '/accounts/X'],
    ...[
      '/accounts/X/utxos',
      '/accounts/X/addresses',
      '/scripts/X',
      '/scripts/X/json',
      '/scripts/datum/X/cbor',
      '/scripts',
    ],
  ],
  '/kupo': [
    ...['/matches', '/matches/X', '/matches/X/X', '/matches/X@X', '/datums/X', '/scripts/X', '/checkpoints'],
    ...['/health', '/patterns', '/metrics', '/checkpoints/X', '/metadata/X', '/patterns/X', '/v1/matches/X'],
  ],
} as const
const parameters = {
  '/blockfrost/api/v0': ['count', 'page', 'order', 'from', 'to'],
  '/kupo': [
    'spent',
    'unspent',
    'order',
    'resolve_hashes',
    'policy_id',
    'asset_name',
    'transaction_id',
    'output_index',
    'created_after',
    'created_before',
    'spent_after',
    'spent_before',
    'strict',
  ],
} as const
const types = ['application/json', 'application/cbor', 'text/plain', 'application/xml', '']
const methods = [
  ...[
    'queryLedgerState/utxo',
    'queryLedgerState/tip',
    'queryLedgerState/protocolParameters',
    'queryNetwork/tip',
  ],
  ...['queryLedgerState/rewardAccountSummaries', 'queryNetwork/genesisConfiguration', 'evaluateTransaction'],
  ...['submitTransaction', 'acquireLedgerState', 'releaseLedgerState', 'hasTransaction', 'nextTransaction'],
  ...[
    'sizeOfMempool',
    'releaseMempool',
    'queryLedgerState/epoch',
    'queryLedgerState/eraSummaries',
    'nothing',
  ],
  ...['constructor', '__proto__', ''],
]
/** These may wait for the chain to change. */
const waiting = ['findIntersection', 'nextBlock', 'acquireMempool']
const names = [
  ...['outputReferences', 'addresses', 'keys', 'scripts', 'era', 'transaction', 'additionalUtxo', 'points'],
  ...['point', 'id', 'fields', '__proto__'],
]

function word(random: Random, { hashes, addresses, blocks }: Material): string {
  if (random() < 0.4) return pick(random, odd)
  return pick(random, [
    pick(random, hashes),
    pick(random, addresses),
    pick(random, blocks),
    hex(random, 28),
    '1',
  ])
}

/** A transaction in hex: valid, changed, or none. */
function transaction(random: Random): string {
  const valid = toHex(payment().cbor)
  return pick(random, [
    valid,
    mutated(random, valid),
    valid.slice(0, 60),
    '80',
    '84a0a0f5f6',
    'x',
    hex(random, 30),
  ])
}

function json(random: Random, material: Material, depth = 0): unknown {
  const choice = random()
  if (choice < 0.2 && depth < 4)
    return Array.from({ length: Math.floor(random() * 4) }, () => json(random, material, depth + 1))
  if (choice < 0.35 && depth < 4) {
    const keys = [
      'id',
      'transaction',
      'index',
      'slot',
      'cbor',
      'address',
      'value',
      'ada',
      'lovelace',
      'datum',
    ]
    const members = keys.filter(() => random() < 0.4)
    return Object.fromEntries(members.map((key) => [key, json(random, material, depth + 1)]))
  }
  const id = pick(random, material.hashes)
  return pick(random, [
    ...[null, 0, -1, 1.5, 1e308, 2 ** 53, true, '', '\u0000', '\ud800', word(random, material)],
    [{ transaction: { id }, index: 0 }],
    { slot: 1, id: pick(random, material.blocks) },
    { cbor: transaction(random) },
    pick(random, material.addresses),
    new Array(random() < 0.05 ? 1001 : 2).fill({ transaction: { id }, index: 0 }),
  ])
}

/** A JSON-RPC request. @param mayWait whether its answer may wait for the chain to change */
export function rpcText(random: Random, material: Material, mayWait: boolean): string {
  const choice = random()
  if (choice < 0.04) return ''.padEnd(Math.floor(random() * 1000), pick(random, ['{', '[', '\u0000', 'x']))
  if (choice < 0.06) return '['.repeat(50_000)
  const id = random() < 0.05 ? JSON.parse('['.repeat(40) + ']'.repeat(40)) : json(random, material)
  const method = pick(random, mayWait ? [...methods, ...waiting] : methods)
  const params = Object.fromEntries(
    names.filter(() => random() < 0.2).map((name) => [name, json(random, material)]),
  )
  if (/^(evaluate|submit)/.test(method) && random() < 0.8) params.transaction = { cbor: transaction(random) }
  const text = JSON.stringify({ jsonrpc: random() < 0.98 ? '2.0' : 2, method, params, id })
  return random() < 0.05 ? text.slice(0, Math.floor(random() * text.length)) : text
}

/** A request to one of the APIs, below the path of a finality. */
export function oddRequest(random: Random, material: Material): Question & { readonly path: string } {
  const headers: Record<string, string> = {}
  const type = pick(random, types)
  if (type !== '' && random() < 0.9) headers['content-type'] = type
  if (random() < 0.1) headers.accept = pick(random, ['text/html', 'x', '*/*'])
  if (random() < 0.02) headers['x-long'] = 'a'.repeat(20_000)
  if (random() < 0.35)
    return { path: '/ogmios', method: 'POST', headers, body: rpcText(random, material, false) }
  if (random() < 0.3) {
    const end = pick(random, ['/tx/submit', '/utils/txs/evaluate', '/utils/txs/evaluate/utxos'])
    const body = pick(random, [
      transaction(random),
      Buffer.from(transaction(random), 'hex'),
      JSON.stringify({ cbor: transaction(random), additionalUtxoSet: json(random, material) }),
      JSON.stringify(json(random, material)),
      'f'.repeat(random() < 0.1 ? 300_000 : 1000),
    ])
    return { path: `/blockfrost/api/v0${end}`, method: 'POST', headers, body }
  }
  const api = pick(random, ['/blockfrost/api/v0', '/kupo'] as const)
  const path = pick<string>(random, paths[api]).replaceAll('X', () => word(random, material))
  const query = parameters[api]
    .filter(() => random() < 0.2)
    .map((name) => `${name}=${word(random, material)}`)
  if (query.length > 0 && random() < 0.1) query.push(...query)
  const method = pick(random, ['GET', 'GET', 'GET', 'GET', 'HEAD', 'PUT', 'OPTIONS'])
  return { path: api + path + (query.length > 0 ? `?${query.join('&')}` : ''), method, headers: {} }
}
