import { readFileSync } from 'node:fs'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import {
  encodeAssets,
  encodeBytes,
  encodeFields,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeUint,
  type TestKey as FixtureKey,
  keyOf,
  type OutputDraft,
  witnessOf,
} from '@ratatosk/fixtures'
import {
  blake2b256,
  decodeAddress,
  decodeTransaction,
  encodeBech32Address,
  type ProtocolParameters,
  parseProtocolParameters,
  scriptHash,
  scriptIntegrityHash,
} from '@ratatosk/ledger'
import type { ExecutionUnits } from '@ratatosk/ledger/plutus'
import type { Test } from 'tap'

/** A datum hash makes it an output in the format of Alonzo, an array, as CML writes datum hashes. */
export interface DraftOutput extends Omit<OutputDraft, 'assets' | 'script'> {
  /** Policy id and asset name in hex, joined → quantity. */
  readonly assets?: Readonly<Record<string, bigint>>
  /** A Plutus V3 script. */
  readonly referenceScript?: Uint8Array
}

export interface Draft {
  /** `<64 hex digits>#<index>`. */
  readonly inputs: readonly string[]
  readonly outputs: readonly DraftOutput[]
  readonly fee: bigint
  readonly signers: readonly TestKey[]
  readonly invalidBefore?: bigint
  readonly invalidHereafter?: bigint
  readonly certificates?: readonly StakeCertificate[]
  /** Reward addresses with lovelace. */
  readonly withdrawals?: readonly (readonly [address: Uint8Array, lovelace: bigint])[]
  readonly mint?: Readonly<Record<string, bigint>>
  /** CBOR of the auxiliary data. */
  readonly auxiliaryData?: Uint8Array
  readonly collateral?: readonly string[]
  readonly referenceInputs?: readonly string[]
  /** Plutus V3 scripts. */
  readonly scripts?: readonly Uint8Array[]
  readonly redeemers?: readonly Redeemer[]
  readonly isValid?: boolean
  readonly parameters?: ProtocolParameters
}

/** A stake certificate: `[0 / 1, credential]`, or with a deposit `[7 / 8, credential, deposit]`. */
export interface StakeCertificate {
  readonly registers: boolean
  readonly keyHash: Uint8Array
  /** Whether it is the hash of a script. Default false. */
  readonly isScript?: boolean
  readonly deposit?: bigint
}

interface Redeemer extends ExecutionUnits {
  /** 0: spend, 1: mint, 3: withdraw. */
  readonly tag: number
  readonly index: number
}

export const unitDatum = fromHex('d87980')

/** The parameters of `@ratatosk/devnet`. */
export function devnetParameters(): ProtocolParameters {
  const file = new URL('../../../devnet/parameters/devnet-11.json', import.meta.url)
  return parseProtocolParameters(JSON.parse(readFileSync(file, 'utf8')))
}

/** Writes and signs a transaction. Nothing is checked or balanced, so that tests can write invalid ones. */
export function draft(transaction: Draft): { readonly cbor: Uint8Array; readonly hash: string } {
  const unbound = write(transaction, undefined)
  if (!transaction.redeemers) return unbound
  const languages = new Set(['PlutusV3' as const])
  const parameters = transaction.parameters ?? devnetParameters()
  return write(transaction, scriptIntegrityHash(decodeTransaction(unbound.cbor), languages, parameters))
}

function write(transaction: Draft, integrity: Uint8Array | undefined): { cbor: Uint8Array; hash: string } {
  const body = encodeFields(bodyOf(transaction, integrity))
  const id = blake2b256(body)
  const witnesses = encodeFields(witnessesOf(transaction, id))
  const cbor = new CborWriter()
    .array(4)
    .raw(body)
    .raw(witnesses)
    .boolean(transaction.isValid ?? true)
  const { auxiliaryData } = transaction
  return { cbor: (auxiliaryData ? cbor.raw(auxiliaryData) : cbor.null()).toBytes(), hash: toHex(id) }
}

/** Inputs and witnesses are lists, not sets, as before Conway. */
function bodyOf(transaction: Draft, integrity: Uint8Array | undefined): Map<number, Uint8Array> {
  const { invalidBefore, invalidHereafter, certificates, withdrawals, mint } = transaction
  const { collateral, referenceInputs, auxiliaryData } = transaction
  return present([
    [0, encodeInputs(transaction.inputs)],
    [1, encodeList(transaction.outputs.map(outputOf))],
    [2, encodeUint(transaction.fee)],
    [3, invalidHereafter === undefined ? undefined : encodeUint(invalidHereafter)],
    [4, certificates && encodeList(certificates.map(encodeCertificate))],
    [5, withdrawals && encodeWithdrawals(withdrawals)],
    [7, auxiliaryData && encodeBytes(blake2b256(auxiliaryData))],
    [8, invalidBefore === undefined ? undefined : encodeUint(invalidBefore)],
    [9, mint && encodeAssets(assetsOf(mint))],
    [11, integrity && encodeBytes(integrity)],
    [13, collateral && encodeInputs(collateral)],
    [18, referenceInputs && encodeInputs(referenceInputs)],
  ])
}

function witnessesOf({ signers, scripts = [], redeemers = [] }: Draft, id: Uint8Array) {
  const some = (items: readonly Uint8Array[]) => (items.length > 0 ? encodeList(items) : undefined)
  return present([
    [0, some(signers.map((signer) => witnessOf(signer, id)))],
    [5, some(redeemers.map(encodeRedeemer))],
    [7, some(scripts.map(encodeBytes))],
  ])
}

function present(fields: readonly (readonly [number, Uint8Array | undefined])[]): Map<number, Uint8Array> {
  return new Map(fields.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])))
}

function encodeInputs(inputs: readonly string[]): Uint8Array {
  return encodeList(
    inputs.map((input) => {
      const [id = '', index] = input.split('#')
      return encodeInput(fromHex(id), Number(index))
    }),
  )
}

function encodeCertificate({ registers, keyHash, isScript = false, deposit }: StakeCertificate): Uint8Array {
  const kind = registers ? 0 : 1
  const writer = new CborWriter()
  writer.array(deposit === undefined ? 2 : 3).uint(deposit === undefined ? kind : kind + 7)
  writer
    .array(2)
    .uint(isScript ? 1 : 0)
    .bytes(keyHash)
  if (deposit !== undefined) writer.uint(deposit)
  return writer.toBytes()
}

function encodeWithdrawals(withdrawals: NonNullable<Draft['withdrawals']>): Uint8Array {
  const writer = new CborWriter().map(withdrawals.length)
  for (const [address, lovelace] of withdrawals) writer.bytes(address).uint(lovelace)
  return writer.toBytes()
}

function encodeRedeemer({ tag, index, memory, steps }: Redeemer): Uint8Array {
  const writer = new CborWriter().array(4).uint(tag).uint(index).raw(unitDatum)
  return writer.array(2).uint(memory).uint(steps).toBytes()
}

function outputOf({ assets, referenceScript, datumHash, ...output }: DraftOutput): Uint8Array {
  if (datumHash) {
    return new CborWriter().array(3).bytes(output.address).uint(output.lovelace).bytes(datumHash).toBytes()
  }
  return encodeOutput({
    ...output,
    ...(assets && { assets: assetsOf(assets) }),
    ...(referenceScript && { script: new CborWriter().array(2).uint(3).bytes(referenceScript).toBytes() }),
  })
}

function assetsOf(assets: Readonly<Record<string, bigint>>): NonNullable<OutputDraft['assets']> {
  return Object.entries(assets).map(
    ([unit, quantity]) => [fromHex(unit.slice(0, 56)), unit.slice(56), quantity] as const,
  )
}

export const alice = testKey(1)
export const bob = testKey(2)
/** Two outputs of 100 ada for Alice. */
export const aliceGenesis = genesisOf([alice.addressBytes, alice.addressBytes])
export const first = `${'11'.repeat(32)}#0`
export const second = `${'11'.repeat(32)}#1`

/** Plutus V3: `(program 1.1.0 (lam context (con unit ())))`. */
export const succeeding = fromHex('450101002499')
/** Plutus V3: `(program 1.1.0 (lam context (error)))`. */
export const failing = fromHex('450101002601')
export const succeedingHash = scriptHash('PlutusV3', succeeding)
export const failingHash = scriptHash('PlutusV3', failing)

/** The enterprise address of a script on a test network. */
function scriptAddress(hash: Uint8Array): Uint8Array {
  return Uint8Array.from([0x70, ...hash])
}

/** A ledger that makes blocks on demand. */
export interface BlockMaker {
  submit(cbor: Uint8Array): Promise<unknown>
  produceBlock(): Promise<unknown>
}

/** Alice pays Bob 10 ada of an output of 100 ada; the change is output 1. */
export function payment(input = first, change = 89_800_000n) {
  return draft({
    inputs: [input],
    outputs: [
      { address: bob.addressBytes, lovelace: 10_000_000n },
      { address: alice.addressBytes, lovelace: change },
    ],
    fee: 200_000n,
    signers: [alice],
  })
}

/** Locks 20 ada of Alice's with a script, in a block. Returns the output reference. */
export async function lock(ledger: BlockMaker, hash: Uint8Array): Promise<string> {
  const locking = draft({
    inputs: [first],
    outputs: [
      { address: scriptAddress(hash), lovelace: 20_000_000n, inlineDatum: unitDatum },
      { address: alice.addressBytes, lovelace: 79_800_000n },
    ],
    fee: 200_000n,
    signers: [alice],
  })
  await ledger.submit(locking.cbor)
  await ledger.produceBlock()
  return `${locking.hash}#0`
}

/** Spends an output that a script locks; Alice's second output is the collateral. */
export function unlock(output: string, script: Uint8Array, isValid = true) {
  return draft({
    inputs: [output],
    outputs: [{ address: alice.addressBytes, lovelace: 19_700_000n }],
    fee: 300_000n,
    signers: [alice],
    collateral: [second],
    scripts: [script],
    redeemers: [{ tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }],
    isValid,
  })
}

/** A test key, derived from one byte. */
export interface TestKey extends Omit<FixtureKey, 'address'> {
  /** Enterprise address on a test network. */
  readonly addressBytes: Uint8Array
  readonly address: string
}

export function testKey(seed: number): TestKey {
  const { address: addressBytes, ...key } = keyOf(seed)
  const address = decodeAddress(addressBytes)
  if (address.kind === 'byron') throw new TypeError('an enterprise address decoded as a Byron address')
  return { ...key, addressBytes, address: encodeBech32Address(address) }
}

/** The genesis of a devnet. */
export interface TestGenesis {
  /** POSIX milliseconds. */
  readonly startTime: number
  readonly networkMagic: number
  readonly utxos: readonly { readonly outref: string; readonly output: string }[]
}

/** A genesis that pays `lovelace` to each address, with the output references `11…11#0`, `#1`, … */
export function genesisOf(addresses: readonly Uint8Array[], lovelace = 100_000_000n): TestGenesis {
  return {
    startTime: Date.UTC(2025, 0, 1),
    networkMagic: 42,
    utxos: addresses.map((address, index) => ({
      outref: `${'11'.repeat(32)}#${index}`,
      output: toHex(encodeOutput({ address, lovelace })),
    })),
  }
}

/**
 * A ledger served by the APIs of layer 1, whose blocks a test makes. It starts with the outputs of
 * `aliceGenesis`.
 */
export interface ServedLedger {
  readonly layer: 1 | 2
  /** Base URLs of the APIs. */
  readonly blockfrost: string
  readonly ogmios: string
  readonly parameters: ProtocolParameters
  readonly genesisHash: string
  currentSlot(): bigint
  submit(cbor: Uint8Array): Promise<unknown>
  /**
   * Makes a block of everything that is accepted. Layer 2 has no empty blocks: it puts a transaction of its
   * own into one.
   */
  produceBlock(): Promise<{ readonly slot: bigint; readonly hash: string }>
  /** Reverts the newest blocks. */
  rollBack(blocks: number): Promise<unknown>
  /** Begins again with the genesis. */
  reset(): Promise<void>
  isConfirmed(hash: string): Promise<boolean>
}

/** Opens a ledger for one test. */
export type OpenLedger = (t: Test) => Promise<ServedLedger>

/** tap's `test`. */
export type RunTest = (name: string, run: (t: Test) => Promise<void>) => unknown
