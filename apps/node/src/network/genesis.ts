import { fromHex } from '@ratatosk/cbor'
import {
  decodeAddress,
  decodeTransactionOutput,
  encodeBech32Address,
  outputReferenceKey,
  validatePart,
} from '@ratatosk/ledger'
import type { LedgerEntry } from '@ratatosk/store'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { SettingsError } from '../errors.js'
import { fileLimits } from '../settings/regular-file.js'
import type { Settings } from '../settings/schema.js'
import { type Network, readJsonFile } from './network.js'

const devnetGenesis = new URL('../../genesis/devnet.json', import.meta.url)

const Entry = Type.Object({
  outref: Type.String({ pattern: '^[0-9a-fA-F]{64}#[0-9]{1,5}$' }),
  output: Type.String({ pattern: '^([0-9a-fA-F]{2})+$' }),
})

/** The fees of a block are counted in 64 bits: an honest operator never holds more than that. */
const lovelaceLimit = 2n ** 64n

export interface LoadedGenesis {
  /** GENESIS_FILE; undefined for the devnet's own genesis. */
  readonly file: string | undefined
  readonly outputs: readonly LedgerEntry[]
}

/**
 * The genesis of GENESIS_FILE, or the devnet's own; else undefined.
 * @throws SettingsError for an unreadable file, an output that layer 2 cannot spend, or 2^64 lovelace or more
 */
export async function loadGenesis(
  { GENESIS_FILE }: Pick<Settings, 'GENESIS_FILE'>,
  network: Network,
): Promise<LoadedGenesis | undefined> {
  const source = GENESIS_FILE ?? (network.name === 'devnet' ? devnetGenesis : undefined)
  if (source === undefined) return undefined
  const fail = (reason: string): never => {
    throw new SettingsError([`GENESIS_FILE is "${source}": ${reason}.`])
  }

  const json = await readJsonFile('GENESIS_FILE', source, fileLimits.genesis)
  if (!Value.Check(Type.Object({ utxos: Type.Array(Type.Unknown()) }), json)) {
    return fail('it must hold { "utxos": [ … ] }')
  }
  const seen = new Set<string>()
  let lovelace = 0n
  const outputs = json.utxos.map((entry, position) => {
    const place = `utxos[${position}]`
    if (!Value.Check(Entry, entry)) {
      return fail(`${place} must be { "outref": "<64 hex digits>#<index>", "output": "<hex CBOR>" }`)
    }
    try {
      const output = readEntry(entry, network)
      const key = outputReferenceKey(output.entry.reference)
      if (seen.has(key)) throw new Error('its outref is not unique')
      seen.add(key)
      lovelace += output.lovelace
      return output.entry
    } catch (error) {
      return fail(`${place}: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
  if (lovelace >= lovelaceLimit)
    return fail(`its outputs hold ${lovelace} lovelace: they must hold less than 2^64`)
  return { file: GENESIS_FILE, outputs }
}

function readEntry({ outref, output: hex }: Static<typeof Entry>, network: Network) {
  const [transactionId = '', index = ''] = outref.split('#')
  if (Number(index) > 0xffff) throw new Error('the index of its outref is greater than 65535')
  const output = fromHex(hex)
  const flaw = outputFlaw(output)
  if (flaw !== undefined) throw new Error(flaw)
  const { address, value } = decodeTransactionOutput(output)
  if (address.networkId !== network.id) throw new Error(`its address does not belong to ${network.name}`)
  const entry: LedgerEntry = {
    reference: { transactionId: fromHex(transactionId), index: Number(index) },
    output,
    address: address.bytes,
  }
  return { entry, lovelace: value.lovelace }
}

/** Why layer 2 cannot spend an output, in CBOR; undefined if it can. A genesis may not have it. */
function outputFlaw(output: Uint8Array): string | undefined {
  try {
    const { kind } = decodeTransactionOutput(output).address
    if (kind === 'byron') return 'its address is of the Byron era, which layer 2 refuses'
    const [flaw] = validatePart('resolved outputs', [output])
    return flaw && `nothing could spend it: ${flaw.message}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A key address that owns a genesis output, for examples; undefined if there is none. */
export function exampleAddress({ outputs }: LoadedGenesis): string | undefined {
  for (const { address } of outputs) {
    const decoded = decodeAddress(address)
    if ('payment' in decoded && decoded.payment.kind === 'key') return encodeBech32Address(decoded)
  }
  return undefined
}
