import { readFileSync } from 'node:fs'
import { parseProtocolParameters } from '@ratatosk/ledger'

const devnet = new URL('../../apps/node/parameters/preprod-11.json', import.meta.url)

/** The node's parameters on the devnet, with the document's fee constants. */
export const parameters = parseProtocolParameters(JSON.parse(readFileSync(devnet, 'utf8')))
