import { hexOrNull, toHex } from '@ratatosk/cbor'
import { blake2b256, byReference, outputReferenceKey, type Script, type Transaction } from '@ratatosk/ledger'
import { undone } from '../errors.js'
import { lazyList } from '../json.js'
import { addressText } from '../view/address-text.js'
import type { ChainOutput, ChainView } from '../view/chain-view.js'
import { pointJson } from './requests.js'

const languages = {
  native: 'native',
  PlutusV1: 'plutus:v1',
  PlutusV2: 'plutus:v2',
  PlutusV3: 'plutus:v3',
} as const

/** The content that outputs refer to, and the form of quantities. */
interface Referred {
  /** By hash. */
  readonly spenders: ReadonlyMap<string, Transaction>
  /** By hash, if hashes are to be resolved. */
  readonly datums?: ReadonlyMap<string, Uint8Array>
  quantityJson(quantity: bigint): bigint | string
}

/** How matches are written. */
export interface MatchFormat {
  /** Adds datums and scripts. */
  readonly resolveHashes: boolean
  /** Quantities as text; otherwise as bigints, see `encodeJson`. */
  readonly quantityText: boolean
}

/**
 * Outputs in Kupo's format. `found` is one page: its references are read at once.
 * @throws {ChainUnavailableError} if a transaction that spent an output has been undone meanwhile
 */
export async function matchesJson(
  chain: ChainView,
  found: readonly ChainOutput[],
  { resolveHashes, quantityText }: MatchFormat,
): Promise<Iterable<unknown>> {
  const hashes = found.flatMap(({ output: { datum } }) => (datum.kind === 'hash' ? toHex(datum.hash) : []))
  const spent = found.flatMap((output) => output.spent?.transactionHash ?? [])
  const spenders = await some(spent, (wanted) => chain.transactions(wanted))
  if (!spent.every((hash) => spenders.has(hash))) {
    throw undone()
  }
  const referred = {
    spenders,
    quantityJson: quantityText ? String : (quantity: bigint) => quantity,
    ...(resolveHashes && { datums: await some(hashes, (wanted) => chain.datums(wanted)) }),
  }
  return lazyList(found, (output) => matchJson(output, referred))
}

/** The known values of these hashes; without hashes, no query. */
async function some<Value>(
  hashes: readonly string[],
  read: (hashes: readonly string[]) => ReadonlyMap<string, Value> | Promise<ReadonlyMap<string, Value>>,
): Promise<ReadonlyMap<string, Value>> {
  return hashes.length === 0 ? new Map() : read([...new Set(hashes)])
}

function matchJson(found: ChainOutput, { spenders, datums, quantityJson }: Referred) {
  const { output, created, transactionHash, index } = found
  const { datum, referenceScript } = output
  const hash =
    datum.kind === 'inline' ? blake2b256(datum.data) : datum.kind === 'hash' ? datum.hash : undefined
  const assets: Record<string, bigint | string> = {}
  for (const [policy, names] of output.value.assets) {
    for (const [name, quantity] of names) {
      assets[name === '' ? policy : `${policy}.${name}`] = quantityJson(quantity)
    }
  }
  const known = datum.kind === 'inline' ? datum.data : hash && datums?.get(toHex(hash))
  return {
    transaction_index: created.position,
    transaction_id: transactionHash,
    output_index: index,
    address: addressText(output.address),
    value: { coins: quantityJson(output.value.lovelace), assets },
    datum_hash: hexOrNull(hash),
    datum_type: datum.kind === 'none' ? undefined : datum.kind,
    script_hash: hexOrNull(referenceScript?.hash),
    created_at: pointJson(created.block),
    spent_at: spentJson(found, spenders),
    ...(datums && {
      datum: hexOrNull(known),
      script: referenceScript === undefined ? null : scriptJson(referenceScript),
    }),
  }
}

export function scriptJson({ language, bytes }: Script) {
  return { language: languages[language], script: toHex(bytes) }
}

/** Where an output was spent, and with which redeemer. The ledger numbers inputs by reference. */
function spentJson({ key, spent }: ChainOutput, spenders: Referred['spenders']) {
  if (spent === undefined) return null
  const spender = spenders.get(spent.transactionHash)
  const references = spent.by === 'inputs' ? spender?.body.inputs : spender?.body.collateralInputs
  const position = [...(references ?? [])].sort(byReference).map(outputReferenceKey).indexOf(key)
  const redeemer = spender?.witnesses.redeemers.find(
    ({ purpose, index }) => purpose === 'spend' && index === position,
  )
  return {
    ...pointJson(spent.block),
    transaction_id: spent.transactionHash,
    input_index: position,
    redeemer: spent.by === 'inputs' ? hexOrNull(redeemer?.data) : null,
  }
}
