import { readFileSync } from 'node:fs'
import { type ProtocolParameters, parseProtocolParameters } from '@ratatosk/ledger'

/** Mainnet's protocol parameters of the Conway era, protocol version 10. */
export function defaultParameters(): ProtocolParameters {
  const file = new URL('../../parameters/devnet.json', import.meta.url)
  return parseProtocolParameters(JSON.parse(readFileSync(file, 'utf8')))
}
