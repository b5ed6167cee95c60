import type { MovedParts } from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  type Address,
  blake2b256,
  decodeAddress,
  decodeNativeScript,
  decodeOutputReference,
  decodeTransaction,
  decodeTransactionOutput,
  type KeyWitness,
  type OutputReference,
  type PlutusLanguage,
  profileLimits,
  type Script,
  scriptHash,
  type Transaction,
  type TransactionOutput,
  type Value,
} from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { shapeFrauds } from './find-shape-fraud.js'
import type { Recorded } from './recorded.js'
import {
  entriesOf,
  fieldOf,
  firstOf,
  type Item,
  isMap,
  itemIn,
  itemsOf,
  movedParts,
  partsOfOutput,
} from './shapes.js'

/** A transaction as the ledger decodes it, or as the scripts read it. */
export interface Read {
  readonly transaction: Transaction
  /** Whether the ledger decodes its body. */
  readonly isDecoded: boolean
  /** Whether it decodes its witness set. */
  readonly hasWitnesses: boolean
}

const head = Uint8Array.of(0x84)
const noWitnesses = Uint8Array.of(0xa0)
/** Behind a witness set: the transaction is valid, and has no auxiliary data. */
const noAuxiliaryData = Uint8Array.of(0xf5, 0xf6)
const emptyBody = fromHex('a3008001800200')

/**
 * The recorded transaction, without unknown witnesses; undefined if its shape is a fraud, as `shapeFrauds`
 * finds it. Auxiliary data need not decode.
 */
export function readAt(block: AccusedBlock, recorded: Recorded): Read | undefined {
  const { isWitnessed, parts } = recorded
  const { id, body } = parts
  const witnessSet = isWitnessed ? parts.witnessSet : noWitnesses
  const rest = isWitnessed ? parts.rest : noAuxiliaryData
  const decoded = decodedOf(body, witnessSet, rest) ?? decodedOf(body, witnessSet, noAuxiliaryData)
  if (decoded !== undefined && equalBytes(decoded.id, id)) {
    const transaction = withAuxiliaryData(decoded, decoded.body.auxiliaryDataHash, rest)
    return { transaction, isDecoded: true, hasWitnesses: true }
  }
  const { bodyItems, witnessSetItems } = profileLimits
  const [read, items] = [itemIn(body, bodyItems), itemIn(witnessSet, witnessSetItems)]
  if (typeof read === 'string' || typeof items === 'string') return undefined
  if (!shapeFrauds(block, recorded).next().done) return undefined
  const bytes = concatBytes(head, body, witnessSet, rest)
  const lenient = readLeniently(bytes, { id, body: read, witnesses: items })
  const witnesses = decodedOf(emptyBody, witnessSet, noAuxiliaryData)?.witnesses
  return {
    transaction: {
      ...withAuxiliaryData(lenient, lenient.body.auxiliaryDataHash, rest),
      ...(witnesses && { witnesses }),
    },
    isDecoded: false,
    hasWitnesses: witnesses !== undefined,
  }
}

/** A transaction of parts; undefined if the ledger does not decode it, or cuts it elsewhere. */
function decodedOf(body: Uint8Array, witnessSet: Uint8Array, rest: Uint8Array): Transaction | undefined {
  try {
    const transaction = decodeTransaction(concatBytes(head, body, witnessSet, rest))
    return equalBytes(transaction.witnesses.bytes, witnessSet) ? transaction : undefined
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}

/** A transaction with the auxiliary data of a hash, if they are there: of what they have, nothing is read. */
function withAuxiliaryData(
  transaction: Transaction,
  hash: Uint8Array | undefined,
  rest: Uint8Array,
): Transaction {
  const bytes = rest.subarray(1)
  if (transaction.auxiliaryData || !hash || !equalBytes(blake2b256(bytes), hash)) return transaction
  return { ...transaction, auxiliaryData: { bytes, scripts: [] } }
}

const movedBy = new WeakMap<Recorded, { readonly parts: MovedParts | undefined }>()

/** The changes of a transaction that may be partly unreadable. */
export function movedAt(recorded: Recorded): MovedParts | undefined {
  const { parts } = recorded
  if (parts.isDecoded) return parts
  const known = movedBy.get(recorded) ?? { parts: movedParts(parts.body) }
  movedBy.set(recorded, known)
  return known.parts
}

/*
 * The parts that the scripts read of transactions that the ledger does not decode despite right shapes: a
 * false address, a quantity of zero, an empty list or bad data prevents decoding, but hides no theft.
 */

/** A body and a witness set whose shapes are right. */
interface Shaped {
  readonly id: Uint8Array
  readonly body: Item
  readonly witnesses: Item
}

/** Reads what proofs need: no redeemers, datums, collateral, or parts that layer 2 does not allow. */
function readLeniently(bytes: Uint8Array, { id, body, witnesses }: Shaped): Transaction {
  const numberAt = (key: number) => fieldOf(body, key)?.argument
  const [until, from, network] = [numberAt(3), numberAt(8), numberAt(15)]
  const [auxiliaryDataHash, hash] = [fieldOf(body, 7), fieldOf(body, 11)]
  const mint = fieldOf(body, 9)
  const returned = fieldOf(body, 16)
  return {
    bytes,
    id,
    isValid: true,
    body: {
      bytes: body.bytes,
      inputs: referencesIn(body, 0),
      outputs: itemsOf(body, 1).map(outputOf),
      fee: numberAt(2) ?? 0n,
      validityInterval: {
        ...(until !== undefined && { invalidHereafter: until }),
        ...(from !== undefined && { invalidBefore: from }),
      },
      certificates: [],
      withdrawals: withdrawalsIn(body),
      mint: mint ? assetsOf(mint) : new Map(),
      ...(auxiliaryDataHash && { auxiliaryDataHash: contentOf(auxiliaryDataHash) }),
      ...(hash && { scriptDataHash: contentOf(hash) }),
      collateralInputs: referencesIn(body, 13),
      requiredSigners: itemsOf(body, 14)
        .map(contentOf)
        .filter(({ length }) => length === 28),
      ...(network !== undefined && { networkId: Number(network) }),
      ...(returned && { collateralReturn: outputOf(returned) }),
      referenceInputs: referencesIn(body, 18),
      votingProcedures: [],
      proposalProcedures: [],
      treasuryDonation: 0n,
    },
    witnesses: {
      bytes: witnesses.bytes,
      keyWitnesses: itemsOf(witnesses, 0).map(keyWitnessOf),
      bootstrapWitnesses: itemsOf(witnesses, 2).map((witness) => ({
        ...keyWitnessOf(witness),
        chainCode: new Uint8Array(),
        attributes: new Uint8Array(),
      })),
      scripts: scriptsOf(witnesses),
      datums: new Map(),
      redeemers: [],
    },
  }
}

/** An output: what the ledger decodes, or what the scripts read of it. */
export function readOutput(bytes: Uint8Array): TransactionOutput {
  const item = itemIn(bytes, profileLimits.resolvedItems)
  return typeof item === 'string' ? decodeTransactionOutput(bytes) : outputOf(item)
}

function outputOf(output: Item): TransactionOutput {
  const { bytes } = output
  const decoded = tried(() => decodeTransactionOutput(bytes))
  if (decoded !== undefined) return decoded
  const [address, value] = partsOfOutput(output)
  const referenceScript = referenceScriptOf(output)
  return {
    bytes,
    format: isMap(output) ? 'map' : 'array',
    address: address === undefined ? unknownAddress : addressOf(contentOf(address)),
    value: value === undefined ? { lovelace: 0n, assets: new Map() } : valueIn(value),
    datum: { kind: 'none' },
    ...(referenceScript && { referenceScript }),
  }
}

/** The reference script as the scripts find it: a tag, a string with language and script, any heads. */
function referenceScriptOf(output: Item): Script | undefined {
  const tagged = isMap(output) ? fieldOf(output, 3) : undefined
  const [string] = tagged && firstOf(tagged) >> 5 === 6 ? tagged.items : []
  if (string === undefined || firstOf(string) >> 5 !== 2 || string.argument < 0n) return undefined
  const content = contentOf(string)
  const behind = (place: number): number => place + headLength(content[place])
  const behindLanguage = behind(behind(0))
  const language = content[behindLanguage - 1] ?? languages.length
  const end = content.length - (content[0] === 0x9f ? 1 : 0)
  const script = content.subarray(language === 0 ? behindLanguage : behind(behindLanguage), end)
  if (language === 0) return nativeScriptOf(script)
  const plutus = languages[language]
  return plutus && { language: plutus, bytes: script, hash: scriptHash(plutus, script) }
}

/** By their numbers in the CDDL. */
const languages: readonly (PlutusLanguage | undefined)[] = [undefined, 'PlutusV1', 'PlutusV2', 'PlutusV3']

const headLength = (first = 0): number => {
  const info = first % 32
  return info > 23 && info < 28 ? 1 + 2 ** (info - 24) : 1
}

/** Of Byron addresses nothing is proven. */
const unknownAddress: Address = {
  kind: 'byron',
  bytes: new Uint8Array(),
  networkId: 0,
  root: new Uint8Array(),
  attributes: new Uint8Array(),
  spending: 'key',
}

/** Of an address that does not decode, the scripts read its header and what pays. */
function addressOf(bytes: Uint8Array): Address {
  const decoded = tried(() => decodeAddress(bytes))
  const header = bytes[0]
  if (decoded || header === undefined || header > 0x7f || bytes.length < 29) return decoded ?? unknownAddress
  const payment = { kind: header % 32 < 16 ? 'key' : 'script', hash: bytes.subarray(1, 29) } as const
  return { kind: 'enterprise', bytes, networkId: header % 16, payment }
}

function valueIn({ argument, items: [lovelace, assets] }: Item): Value {
  if (lovelace === undefined || assets === undefined) return { lovelace: argument, assets: new Map() }
  return { lovelace: lovelace.argument, assets: assetsOf(assets) }
}

/** Of a policy or a name that comes twice, the scripts read the first. */
function assetsOf(assets: Item): Map<string, Map<string, bigint>> {
  const firstOfEach = <T>(entries: readonly (readonly [string, T])[]) => new Map([...entries].reverse())
  return firstOfEach(
    entriesOf(assets).map(([policy, names]) => [
      toHex(contentOf(policy)),
      firstOfEach(entriesOf(names).map(([name, quantity]) => [toHex(contentOf(name)), numberOf(quantity)])),
    ]),
  )
}

const numberOf = ({ bytes, argument }: Item): bigint =>
  (bytes[0] as number) < 0x20 ? argument : -1n - argument

/** The content of a string of definite length. */
const contentOf = ({ bytes, argument }: Item): Uint8Array => bytes.subarray(bytes.length - Number(argument))

const referencesIn = (body: Item, key: number): OutputReference[] =>
  itemsOf(body, key).map(({ bytes }) => decodeOutputReference(bytes))

const keyWitnessOf = ({ bytes }: Item): KeyWitness => ({
  publicKey: bytes.subarray(3, 35),
  signature: bytes.subarray(37, 101),
})

const plutusFields: readonly (readonly [number, PlutusLanguage])[] = [
  [3, 'PlutusV1'],
  [6, 'PlutusV2'],
  [7, 'PlutusV3'],
]

function scriptsOf(witnesses: Item): Script[] {
  const natives = itemsOf(witnesses, 1).map(({ bytes }) => nativeScriptOf(bytes))
  const plutus = plutusFields.flatMap(([field, language]) =>
    itemsOf(witnesses, field).map((item): Script => {
      const bytes = contentOf(item)
      return { language, bytes, hash: scriptHash(language, bytes) }
    }),
  )
  return [...natives, ...plutus]
}

const nativeScriptOf = (bytes: Uint8Array): Script =>
  tried(() => decodeNativeScript(bytes)) ?? {
    language: 'native',
    hash: scriptHash('native', bytes),
    bytes,
    // Whether it is satisfied is unknown.
    script: { kind: 'all', scripts: [] },
  }

/** The withdrawals from accounts that can be read; what others are is another fraud. */
function withdrawalsIn(body: Item): Transaction['body']['withdrawals'] {
  const field = fieldOf(body, 5)
  if (field === undefined) return []
  return entriesOf(field).flatMap(([key, { argument: lovelace }]) => {
    const account = firstOf(key) >> 5 === 2 ? tried(() => decodeAddress(contentOf(key))) : undefined
    return account?.kind === 'reward' ? [{ account, lovelace }] : []
  })
}

function tried<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}
