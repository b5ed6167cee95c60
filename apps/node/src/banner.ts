import { duties, servesConsole } from './roles.js'
import type { Settings } from './settings/schema.js'
import type { RunningNode } from './start-node.js'

/** The terminal's text after a start: where the node is, and what to try. */
export function banner(node: RunningNode): string {
  const { url, settings, places, genesis, stateQueueAddress, watcherAddress } = node
  const { NODE_ROLE, NETWORK, SERVE_DOCS, SERVE_LAYER2_APIS } = settings
  const hasConsole = servesConsole(duties[NODE_ROLE], settings)
  const rows = [
    ...(hasConsole ? [['console', `${url}/console`]] : []),
    ['address', url],
    ['role', NODE_ROLE],
    ['network', NETWORK],
    ['store', places.store],
    ['queue', places.queue],
  ]
  if (places.layer1 !== undefined) rows.push(['layer 1', places.layer1])
  if (stateQueueAddress !== undefined) rows.push(['state queue', stateQueueAddress])
  if (watcherAddress !== undefined) rows.push(['watcher pays from', watcherAddress])
  if (genesis !== undefined) {
    const how = genesis.applied ? 'applied now' : 'applied earlier'
    rows.push(['genesis', `${genesis.outputs} outputs, ${how}`])
  }
  if (SERVE_DOCS && NODE_ROLE !== 'tx-processor') rows.push(['all endpoints', `${url}/docs`])
  if (SERVE_LAYER2_APIS && NODE_ROLE === 'all') {
    rows.push(['for SDKs', `${url}/l2/blockfrost/api/v0 (also kupo, ogmios)`])
  }
  const width = Math.max(...rows.map(([name = '']) => name.length))
  const table = rows.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}`)
  return [
    '',
    '  Ratatosk is up',
    '',
    ...table,
    '',
    '  Try:',
    '',
    ...hints(url, settings, genesis?.example),
    '',
  ].join('\n')
}

function hints(
  url: string,
  { NODE_ROLE: role, NETWORK }: Pick<Settings, 'NODE_ROLE' | 'NETWORK'>,
  address: string | undefined,
): string[] {
  const lines = [`  curl ${url}/health/ready`]
  if (role === 'all') {
    if (address !== undefined) lines.push(`  curl '${url}/utxos?address=${address}'`)
    lines.push(`  curl ${url}/stateQueue`)
    // The demo pays from the devnet's test wallets.
    if (NETWORK === 'devnet')
      lines.push(`  npx @ratatosk/cli demo --url ${url}  # a payment, from submission to merge, step by step`)
  }
  if (role === 'api') {
    lines.push(`  curl -H 'content-type: text/plain' -d '<hex CBOR>' ${url}/submit`)
    lines.push(`  curl ${url}/stateQueue/root-unit-diagnostics`)
  }
  if (role === 'archivist' || role === 'watcher') lines.push(`  curl ${url}/block/1`)
  return lines
}
