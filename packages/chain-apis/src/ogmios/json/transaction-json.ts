import { CborReader, Major, toHex } from '@ratatosk/cbor'
import {
  type Assets,
  metadataLabels,
  type NativeScript,
  type OutputReference,
  type RedeemerPurpose,
  type Script,
  type Transaction,
  type TransactionOutput,
  type Value,
} from '@ratatosk/ledger'
import type { OgmiosVersion } from '../../options.js'
import { addressText } from '../../view/address-text.js'
import type { ChainView } from '../../view/chain-view.js'

/** A transaction. Ogmios 7 omits `outputs` and `validityInterval` if they are empty. */
export function transactionJson(transaction: Transaction, version: OgmiosVersion) {
  const { body, witnesses, auxiliaryData, isValid } = transaction
  const outputs = body.outputs.map(outputJson)
  const interval = intervalJson(transaction)
  return {
    id: toHex(transaction.id),
    spends: isValid ? 'inputs' : 'collaterals',
    inputs: body.inputs.map(referenceJson),
    references: nonEmpty(body.referenceInputs.map(referenceJson)),
    collaterals: nonEmpty(body.collateralInputs.map(referenceJson)),
    totalCollateral: body.totalCollateral === undefined ? undefined : lovelaceJson(body.totalCollateral),
    collateralReturn: body.collateralReturn && outputJson(body.collateralReturn),
    outputs: version === '6' ? outputs : nonEmpty(outputs),
    withdrawals:
      body.withdrawals.length === 0
        ? undefined
        : Object.fromEntries(
            body.withdrawals.map(({ account, lovelace }) => [addressText(account), lovelaceJson(lovelace)]),
          ),
    fee: lovelaceJson(body.fee),
    validityInterval: version === '6' || Object.keys(interval).length > 0 ? interval : undefined,
    mint: body.mint.size === 0 ? undefined : assetsJson(body.mint),
    network: body.networkId === undefined ? undefined : body.networkId === 1 ? 'mainnet' : 'testnet',
    scriptIntegrityHash: body.scriptDataHash && toHex(body.scriptDataHash),
    requiredExtraSignatories: nonEmpty(body.requiredSigners.map(toHex)),
    metadata: body.auxiliaryDataHash &&
      auxiliaryData && {
        hash: toHex(body.auxiliaryDataHash),
        labels: Object.fromEntries(
          metadataLabels(auxiliaryData).map(({ label, cbor }) => [
            String(label),
            { cbor: toHex(cbor), json: metadatumJson(cbor) },
          ]),
        ),
      },
    signatories: [
      ...witnesses.keyWitnesses.map(({ publicKey, signature }) => ({
        key: toHex(publicKey),
        signature: toHex(signature),
      })),
      ...witnesses.bootstrapWitnesses.map(({ publicKey, signature, chainCode, attributes }) => ({
        key: toHex(publicKey),
        signature: toHex(signature),
        chainCode: toHex(chainCode),
        addressAttributes: toHex(attributes),
      })),
    ],
    scripts:
      witnesses.scripts.length === 0
        ? undefined
        : Object.fromEntries(witnesses.scripts.map((script) => [toHex(script.hash), scriptJson(script)])),
    datums:
      witnesses.datums.size === 0
        ? undefined
        : Object.fromEntries(Array.from(witnesses.datums, ([hash, datum]) => [hash, toHex(datum)])),
    redeemers: nonEmpty(
      witnesses.redeemers.map(({ purpose, index, data, executionUnits }) => ({
        redeemer: toHex(data),
        executionUnits: { memory: executionUnits.memory, cpu: executionUnits.steps },
        validator: { purpose: purposes[purpose], index },
      })),
    ),
    cbor: toHex(transaction.bytes),
  }
}

export function intervalJson({ body }: Transaction) {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  return {
    ...(invalidBefore !== undefined && { invalidBefore }),
    ...(invalidHereafter !== undefined && { invalidAfter: invalidHereafter }),
  }
}

/** Undefined for an empty list: Ogmios omits empty optional fields. */
function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items
}

/** Redeemer purposes as Ogmios names them. */
export const purposes = {
  spend: 'spend',
  mint: 'mint',
  cert: 'publish',
  reward: 'withdraw',
  vote: 'vote',
  propose: 'propose',
} as const satisfies Readonly<Record<RedeemerPurpose, string>>

export function lovelaceJson(lovelace: bigint) {
  return { ada: { lovelace } }
}

export function valueJson({ lovelace, assets }: Value) {
  return { ...lovelaceJson(lovelace), ...assetsJson(assets) }
}

export function assetsJson(assets: Assets): { [policy: string]: { [name: string]: bigint } } {
  return Object.fromEntries(Array.from(assets, ([policy, names]) => [policy, Object.fromEntries(names)]))
}

export function outputJson({ address, value, datum, referenceScript }: TransactionOutput) {
  return {
    address: addressText(address),
    value: valueJson(value),
    ...(datum.kind === 'hash' && { datumHash: toHex(datum.hash) }),
    ...(datum.kind === 'inline' && { datum: toHex(datum.data) }),
    ...(referenceScript && { script: scriptJson(referenceScript) }),
  }
}

/** @param reference an output reference, as `<64 hex digits>#<index>` or decoded */
export function referenceJson(reference: string | OutputReference) {
  if (typeof reference !== 'string') {
    return { transaction: { id: toHex(reference.transactionId) }, index: reference.index }
  }
  const [id = '', index] = reference.split('#')
  return { transaction: { id }, index: Number(index) }
}

/** Plutus's languages as Ogmios names them. */
export const plutusLanguages = {
  PlutusV1: 'plutus:v1',
  PlutusV2: 'plutus:v2',
  PlutusV3: 'plutus:v3',
} as const

function scriptJson(script: Script) {
  const cbor = toHex(script.bytes)
  if (script.language === 'native') {
    return { language: 'native' as const, json: nativeJson(script.script), cbor }
  }
  return { language: plutusLanguages[script.language], cbor }
}

function nativeJson(script: NativeScript): unknown {
  switch (script.kind) {
    case 'signature':
      return { clause: 'signature', from: toHex(script.keyHash) }
    case 'all':
    case 'any':
      return { clause: script.kind, from: script.scripts.map(nativeJson) }
    case 'at-least':
      return { clause: 'some', atLeast: script.required, from: script.scripts.map(nativeJson) }
    case 'invalid-before':
      return { clause: 'after', slot: script.slot }
    case 'invalid-hereafter':
      return { clause: 'before', slot: script.slot }
  }
}

/** A metadatum in the JSON of cardano-cli without a schema. */
type MetadatumJson = bigint | string | MetadatumJson[] | { [key: string]: MetadatumJson }

/**
 * The JSON of a metadatum, at most a few times as long as its CBOR; undefined if it has none: bytes anywhere,
 * or keys of a map that are lists, maps, or the same as text.
 *
 * @param cbor a valid metadatum, as decoded by the ledger
 */
export function metadatumJson(cbor: Uint8Array): MetadatumJson | undefined {
  return read(new CborReader(cbor))
}

function read(reader: CborReader): MetadatumJson | undefined {
  switch (reader.peekMajor()) {
    case Major.bytes:
      return undefined
    case Major.text:
      return readText(reader)
    case Major.array: {
      const items: MetadatumJson[] = []
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) {
        const item = read(reader)
        if (item === undefined) return undefined
        items.push(item)
      }
      return items
    }
    case Major.map: {
      const entries: [string, MetadatumJson][] = []
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++) {
        const isKey = reader.peekMajor() !== Major.array && reader.peekMajor() !== Major.map
        const key = isKey ? read(reader) : undefined
        const value = key === undefined ? undefined : read(reader)
        if (value === undefined) return undefined
        entries.push([String(key), value])
      }
      const object = Object.fromEntries(entries)
      return Object.keys(object).length === entries.length ? object : undefined
    }
    default:
      return reader.readInteger()
  }
}

/** Text of definite or indefinite length. */
function readText(reader: CborReader): string {
  if (!reader.tryIndefinite(Major.text)) return reader.readText()
  let text = ''
  for (let i = 0; reader.hasNext(-1, i); i++) text += reader.readText()
  return text
}

export function utcTime(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString().replace(/\.000Z$/, 'Z')
}

/** The network that Ogmios would name. */
export function networkName({ networkId }: Pick<ChainView, 'networkId'>): 'mainnet' | 'testnet' {
  return networkId === 1 ? 'mainnet' : 'testnet'
}
