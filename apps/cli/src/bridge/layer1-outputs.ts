import { decodeUtxo, type Utxo } from '@ratatosk/ledger'
import type { Shell } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import {
  baseUrlOf,
  type ConnectionOptions,
  operatorTokenOf,
  timeoutMsOf,
  tokenRemedy,
} from '../frame/node-connection.js'
import { visible } from '../frame/text.js'

/** An output on layer 1, with the CBOR that CIP-30 has for it. */
interface Layer1Output {
  /** Hex. */
  readonly pair: string
  readonly utxo: Utxo
}

/** Reads unspent outputs of an address on layer 1. */
export type Layer1Outputs = (address: string) => Promise<readonly Layer1Output[]>

/** Where an option should point. @param option that names the controls of a devnet */
export const controlsRemedy = (option: string): string =>
  `${option} names the controls of the devnet: /devnet of the node that sequences, not on its ` +
  'DEVNET_PORT, such as http://127.0.0.1:3000/devnet, or of `npx @ratatosk/devnet`'

/** By the controls of the devnet, which the node serves, or another server. @throws UsageError */
export function devnetOutputs(
  options: ConnectionOptions & { readonly devnet?: string | undefined },
  shell: Shell,
): Layer1Outputs {
  const base = options.devnet ?? `${baseUrlOf(options, shell).replace(/\/+$/, '')}/devnet`
  const token = operatorTokenOf(options, shell)
  const timeoutMs = timeoutMsOf(options)
  return async (address) => {
    const answer = await ask(`${base}/outputs?address=${encodeURIComponent(address)}`, token, timeoutMs)
    return answer.map((pair) => ({ pair, utxo: utxoOf(pair) }))
  }
}

async function ask(url: string, token: string | undefined, timeoutMs: number): Promise<readonly string[]> {
  let fault: string
  let remedy = `. ${controlsRemedy('--devnet')}`
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok && Array.isArray(answer) && answer.every((each) => typeof each === 'string'))
      return answer
    fault = `it answered ${response.status}`
    if (response.status === 401) remedy = tokenRemedy
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error)
  }
  throw new CommandError(
    'CLI_LAYER1',
    `Outputs on layer 1 cannot be read at ${visible(url)}: ${visible(fault)}${remedy}.`,
  )
}

/** @throws CommandError if it is not the pair of a reference and an output */
function utxoOf(pair: string): Utxo {
  try {
    return decodeUtxo(Buffer.from(pair, 'hex'))
  } catch {
    throw new CommandError('CLI_ANSWER', 'An output on layer 1 cannot be read.')
  }
}
