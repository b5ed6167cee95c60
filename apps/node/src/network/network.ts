import { fromHex } from '@ratatosk/cbor'
import { parseJson } from '@ratatosk/client/json'
import {
  decodeAddress,
  decodeTransactionOutput,
  encodeBech32Address,
  outputReferenceKey,
  type ProtocolParameters,
  parseProtocolParameters,
  type SlotConfig,
  validatePart,
} from '@ratatosk/ledger'
import type { LedgerEntry } from '@ratatosk/store'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { SettingsError } from '../errors.js'
import { fileLimits, readRegularFile } from '../settings/regular-file.js'
import type { NetworkName, Settings } from '../settings/schema.js'

/** The constants of a network, the same on both layers. */
export interface Network {
  readonly name: NetworkName
  /** Whether layer 1 is a devnet, in this process or behind a provider. */
  readonly isDevnet: boolean
  /** Network id in addresses (CIP-19): 1 on mainnet, 0 on every test network. */
  readonly id: 0 | 1
  readonly kind: 'testnet' | 'mainnet'
  /** Network magic; a provider of layer 1 must report it. */
  readonly magic: number
  readonly slots: SlotConfig
}

/** From the genesis files of the public networks. */
const magics: Readonly<Record<NetworkName, number>> = {
  // `@ratatosk/devnet`.
  devnet: 42,
  preview: 2,
  preprod: 1,
  mainnet: 764_824_073,
}

/**
 * Public networks count from the start of Shelley (`shelley-genesis.json`, `byron-genesis.json`); the devnet
 * counts seconds from 2025, so that validity intervals mean the same after a restart.
 */
const slots: Readonly<Record<NetworkName, SlotConfig>> = {
  devnet: { zeroTime: BigInt(Date.UTC(2025, 0, 1)), zeroSlot: 0n, slotLength: 1000 },
  preview: { zeroTime: BigInt(Date.UTC(2022, 9, 25)), zeroSlot: 0n, slotLength: 1000 },
  preprod: { zeroTime: BigInt(Date.UTC(2022, 5, 21)), zeroSlot: 86_400n, slotLength: 1000 },
  mainnet: { zeroTime: 1_596_059_091_000n, zeroSlot: 4_492_800n, slotLength: 1000 },
}

export function networkOf(name: NetworkName): Network {
  const isMainnet = name === 'mainnet'
  return {
    name,
    isDevnet: name === 'devnet',
    id: isMainnet ? 1 : 0,
    kind: isMainnet ? 'mainnet' : 'testnet',
    magic: magics[name],
    slots: slots[name],
  }
}

/** Reads the JSON file of a setting. @throws SettingsError if unreadable, too large or not JSON */
async function readJsonFile(setting: string, path: string | URL, maxBytes: number): Promise<unknown> {
  const failed = (reason: string) => new SettingsError([`${setting} is "${path}": ${reason}.`])
  let text: string
  try {
    text = readRegularFile(path, maxBytes)
  } catch (error) {
    throw failed(reasonOf(error))
  }
  try {
    return parseJson(text)
  } catch (error) {
    throw failed(`the file is not JSON (${reasonOf(error)})`)
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

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

/** The included parameters by ledger version. All networks have the cost models of preprod at version 11. */
const includedFiles: Readonly<Record<NetworkName, ReadonlyMap<number, string>>> = {
  devnet: new Map([
    [10, 'devnet'],
    [11, 'preprod-11'],
  ]),
  preprod: new Map([
    [10, 'preprod'],
    [11, 'preprod-11'],
  ]),
  preview: new Map([
    [10, 'preview'],
    [11, 'preprod-11'],
  ]),
  mainnet: new Map([
    [10, 'mainnet'],
    [11, 'preprod-11'],
  ]),
}

/** The ledger versions whose parameters are included for a network. */
export const includedVersions = (network: NetworkName): readonly number[] => [
  ...includedFiles[network].keys(),
]

/**
 * Layer 2's protocol parameters: PROTOCOL_PARAMETERS_FILE, or the network's at the ledger version with which
 * the deployment `began`.
 * @throws SettingsError if the file cannot be read, lacks a parameter, or is of another version
 */
export async function loadProtocolParameters(
  settings: Pick<Settings, 'NETWORK' | 'PROTOCOL_PARAMETERS_FILE' | 'LEDGER_VERSION'>,
  began?: number,
): Promise<ProtocolParameters> {
  const { LEDGER_VERSION: version } = settings
  const path = settings.PROTOCOL_PARAMETERS_FILE ?? includedFile(settings, began)
  const json = await readJsonFile('PROTOCOL_PARAMETERS_FILE', path, fileLimits.parameters)
  const parameters = parse(json, path)
  const { major } = parameters.ledgerVersion
  if (version === undefined || Number(version) === major) return parameters
  throw new SettingsError([
    `LEDGER_VERSION is ${version}, but PROTOCOL_PARAMETERS_FILE is "${path}", whose parameters are of ` +
      `ledger version ${major}: name a file of version ${version}, or set LEDGER_VERSION=${major}.`,
  ])
}

function includedFile(
  { NETWORK, LEDGER_VERSION }: Pick<Settings, 'NETWORK' | 'LEDGER_VERSION'>,
  began: number | undefined,
): URL {
  const files = includedFiles[NETWORK]
  const version = began ?? Number(LEDGER_VERSION ?? Math.max(...files.keys()))
  const name = files.get(version)
  if (name !== undefined) return new URL(`../../parameters/${name}.json`, import.meta.url)
  throw new SettingsError([
    `The ledger version is ${version} on ${NETWORK}, whose parameters of this version the node does not ` +
      'include: name a file with them in PROTOCOL_PARAMETERS_FILE.',
  ])
}

function parse(json: unknown, path: string | URL): ProtocolParameters {
  try {
    return parseProtocolParameters(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SettingsError([`PROTOCOL_PARAMETERS_FILE is "${path}": ${reason}.`])
  }
}
