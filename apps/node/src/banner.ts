import type { RunningNode } from './start-node.js'

/** What a person who has just started a node wants to know, as lines for the terminal. */
export function banner({ url, settings, places, genesis, stateQueueAddress }: RunningNode): string {
  const { NODE_ROLE, NETWORK } = settings
  const rows = [
    ['address', url],
    ['role', NODE_ROLE],
    ['network', NETWORK],
    ['store', places.store],
    ['queue', places.queue],
  ]
  if (places.layer1 !== undefined) rows.push(['layer 1', places.layer1])
  if (stateQueueAddress !== undefined) rows.push(['state queue', stateQueueAddress])
  if (genesis !== undefined) {
    const how = genesis.applied ? 'applied now' : 'applied before'
    rows.push(['genesis', `${genesis.outputs} outputs, ${how}`])
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
    ...hints(url, NODE_ROLE, genesis?.example),
    '',
  ].join('\n')
}

function hints(url: string, role: string, address: string | undefined): string[] {
  const lines = [`  curl ${url}/health/ready`]
  if (role === 'all') {
    if (address !== undefined) lines.push(`  curl '${url}/utxos?address=${address}'`)
    lines.push(`  curl ${url}/stateQueue`)
    lines.push("  npm run demo        # in another terminal: a payment's way to the merge, told step by step")
  }
  if (role === 'api') {
    lines.push(`  curl -H 'content-type: text/plain' -d '<hex CBOR>' ${url}/submit`)
    lines.push(`  curl ${url}/stateQueue/root-unit-diagnostics`)
  }
  if (role === 'archivist') lines.push(`  curl ${url}/block/1`)
  return lines
}
