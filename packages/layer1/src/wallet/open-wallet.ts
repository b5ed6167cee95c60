import { BytesMap, equalBytes, toHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  effects,
  type OutputReference,
  outputReferenceKey,
  type Transaction,
  type Utxo,
  type Value,
} from '@ratatosk/ledger'
import {
  addValue,
  type BuiltTransaction,
  buildTransaction,
  invalidDraft,
  isWalletError,
  mayPay,
  type Quantities,
  type SigningKey,
  type TransactionDraft,
  toValue,
  WalletError,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import pLimit from 'p-limit'
import { isLayer1Error } from '../errors.js'
import type { CallOptions, Layer1 } from '../types.js'

export interface WalletOptions {
  readonly layer1: Layer1
  readonly keys: WalletKeys
  /** Runs Plutus scripts; without it, drafts that need scripts are rejected. The caller closes it. */
  readonly evaluator?: Pick<Evaluator, 'evaluate'>
  /** How long a transaction without `validUntil` may be included, in milliseconds; default 1,800,000. */
  readonly lifetimeMs?: number
  /**
   * How long inputs of an included transaction stay withheld, in case a provider answers from an older block;
   * default 120,000.
   */
  readonly withholdMs?: number
}

export interface BuildOptions extends CallOptions {
  /** Further keys that sign. */
  readonly cosigners?: readonly SigningKey[]
  /** Outputs of the wallet that pay for nothing: only a draft that names them spends them. */
  readonly spared?: readonly Pick<Utxo, 'reference'>[]
}

/** The funds of one role. A process opens one wallet per address; two would spend the same outputs. */
export interface Wallet {
  /** Bech32. */
  readonly address: string
  readonly keys: WalletKeys
  /** The value of the confirmed outputs at the address. */
  balance(options?: CallOptions): Promise<Value>
  /**
   * The lovelace of the confirmed outputs that may pay for a draft: none with a reference script, and with
   * `paidByAda` none with tokens. Anyone can send such outputs, which must not hide a lack.
   */
  spendable(draft: Pick<TransactionDraft, 'paidByAda'>, options?: CallOptions): Promise<bigint>
  /**
   * Builds and signs a transaction, checks it against the ledger rules, and withholds its inputs from other
   * transactions until it is included, its validity interval ends, or it is released. The next transaction
   * may spend its change at once, so transactions must be sent in the order in which they were built. `build`
   * does not send: to survive a crash, store `bytes` first. Rejects a draft that names an output that a
   * transaction in flight spends.
   *
   * @throws {WalletError} (rejects); nothing is withheld then
   * @throws {Layer1Error} (rejects)
   */
  build(draft: TransactionDraft, options?: BuildOptions): Promise<BuiltTransaction>
  /**
   * Sends a transaction that was built or adopted. If the network rejects it, its inputs are free again; if
   * the outcome is unknown, they stay withheld, and the same transaction may be sent again.
   *
   * @returns its id
   * @throws {Layer1Error} (rejects)
   */
  submit(transaction: Pick<BuiltTransaction, 'id' | 'bytes'>, options?: CallOptions): Promise<Uint8Array>
  /** `build` and `submit`. */
  send(draft: TransactionDraft, options?: BuildOptions): Promise<BuiltTransaction>
  /**
   * Withholds the inputs of a transaction that an earlier process built and that may still be included. Adopt
   * and resend several in the order in which they were built. A transaction that is included, or whose inputs
   * are spent, is not `inFlight` afterwards.
   */
  adopt(cbor: Uint8Array, options?: CallOptions): Promise<Pick<BuiltTransaction, 'id' | 'bytes'>>
  /**
   * Frees the inputs of a transaction that will never be sent, and drops the transactions in flight that
   * spend its outputs.
   */
  release(id: Uint8Array): void
  /** Ids of the transactions in flight, oldest first. */
  inFlight(): readonly Uint8Array[]
  isInFlight(id: Uint8Array): boolean
}

const defaultLifetimeMs = 1_800_000
const defaultWithholdMs = 120_000

/**
 * Opens a wallet.
 *
 * @throws TypeError when the keys belong to another network than `layer1`
 * @example
 * const faucet = openWallet({ layer1, keys: keysFromSeedPhrase(phrase, { networkId: 0 }) })
 * const { id } = await faucet.send({ outputs: [{ address, lovelace: 100_000_000n }] })
 * await layer1.await(id)
 */
export function openWallet(options: WalletOptions): Wallet {
  const { layer1, keys, lifetimeMs = defaultLifetimeMs, withholdMs = defaultWithholdMs } = options
  if (keys.address.networkId !== layer1.networkId) {
    throw new TypeError(`The keys' address belongs to another network than ${layer1.name}`)
  }
  const owns = ({ output }: Utxo): boolean => equalBytes(output.address.bytes, keys.address.bytes)
  const pool = createUtxoPool({ owns, withholdMs, now: () => performance.now() })
  const state: State = { ...options, lifetimeMs, owns, pool }
  /** Builds run one after another, so that no two select the same output. */
  const serialize = pLimit(1)
  const confirmed = (call?: CallOptions) => layer1.utxosAt(keys.addressText, call)
  const buildInTurn = (draft: TransactionDraft, call: BuildOptions): Promise<BuiltTransaction> =>
    serialize(() => build(state, draft, call).catch((error) => nameWallet(error, keys)))

  return {
    address: keys.addressText,
    keys,
    async balance(call) {
      const sum: Quantities = new Map()
      for (const { output } of await confirmed(call)) addValue(sum, output.value)
      return toValue(sum)
    },
    async spendable(draft, call) {
      return (await confirmed(call))
        .filter((utxo) => mayPay(draft, utxo))
        .reduce((sum, { output }) => sum + output.value.lovelace, 0n)
    },
    build: (draft, call = {}) => buildInTurn(draft, call),
    submit: (transaction, call = {}) => submit(state, transaction, call),
    async send(draft, call = {}) {
      const built = await buildInTurn(draft, call)
      await submit(state, built, call.signal ? { signal: call.signal } : {})
      return built
    },
    adopt: (cbor, call = {}) => serialize(() => adopt(state, cbor, call)),
    release: (id) => pool.release(id),
    inFlight: () => pool.inFlight(),
    isInFlight: (id) => pool.isInFlight(id),
  }
}

interface State extends Pick<WalletOptions, 'layer1' | 'keys' | 'evaluator'> {
  readonly lifetimeMs: number
  readonly pool: UtxoPool
  owns(utxo: Utxo): boolean
}

async function refresh({ layer1, keys, pool }: State, call: CallOptions): Promise<void> {
  // Reads the tip first, so that the outputs are at least as new.
  const { slot } = await layer1.tip(call)
  pool.refresh(await layer1.utxosAt(keys.addressText, call), slot)
}

async function build(
  wallet: State,
  draft: TransactionDraft,
  { cosigners = [], spared = [], ...call }: BuildOptions,
): Promise<BuiltTransaction> {
  const { layer1, keys, evaluator, lifetimeMs, pool } = wallet
  await refresh(wallet, call)
  for (const { utxo } of draft.inputs ?? []) {
    const spender = pool.spenderOf(utxo)
    if (spender === undefined) continue
    throw invalidDraft(`${keyOf(utxo)} is spent by ${toHex(spender)}, which is in flight`)
  }
  const [parameters, slots, slot] = await Promise.all([
    layer1.parameters(call),
    layer1.slots(call),
    layer1.currentSlot(call),
  ])
  const validUntil = draft.validUntil ?? slot + BigInt(Math.ceil(lifetimeMs / slots.slotLength))
  const kept = new Set(spared.map(keyOf))
  const signers = new BytesMap([keys.payment, ...cosigners].map((key) => [key.hash, key] as const))
  const built = await buildTransaction(
    { ...draft, validUntil },
    {
      funds: pool.free().filter((utxo) => !kept.has(keyOf(utxo))),
      changeAddress: keys.address.bytes,
      signers: [...signers.values()],
      parameters,
      slots,
      slot,
      networkId: layer1.networkId,
      ...(evaluator && { evaluator }),
    },
  )
  pool.hold(built)
  return built
}

/** Says which wallet lacks ada. */
function nameWallet(error: unknown, { addressText }: WalletKeys): never {
  if (!isWalletError(error) || error.code !== 'WALLET_INSUFFICIENT_FUNDS') throw error
  const message = error.message.replace(/^The wallet/, `The wallet ${addressText}`)
  throw new WalletError(error.code, message, error)
}

async function submit(
  { layer1, pool }: State,
  { id, bytes }: Pick<BuiltTransaction, 'id' | 'bytes'>,
  call: CallOptions,
): Promise<Uint8Array> {
  try {
    return await layer1.submit(bytes, call)
  } catch (error) {
    const final =
      isLayer1Error(error) && (error.code === 'LAYER1_REJECTED' || error.code === 'LAYER1_WRONG_NETWORK')
    if (final && !error.mayHaveEffect) pool.release(id)
    throw error
  }
}

async function adopt(wallet: State, cbor: Uint8Array, call: CallOptions): ReturnType<Wallet['adopt']> {
  const { layer1, pool, owns } = wallet
  const transaction = decodeTransaction(cbor)
  const { id } = transaction
  const adopted = { id, bytes: transaction.bytes }
  await refresh(wallet, call)
  if ((await layer1.status(id, call)).kind === 'confirmed') return adopted
  const free = new Map(pool.free().map((utxo) => [keyOf(utxo), utxo]))
  const own = (references: readonly OutputReference[]): Utxo[] =>
    references.flatMap((reference) => free.get(outputReferenceKey(reference)) ?? [])
  const { inputs, collateralInputs } = transaction.body
  const missing = inputs.filter((reference) => !free.has(outputReferenceKey(reference)))
  const elsewhere = await layer1.utxosByReferences(missing, call)
  // An input is spent, or withheld for another transaction: this transaction can never be included.
  if (elsewhere.length < missing.length || elsewhere.some(owns)) return adopted
  const spent = [...own(inputs), ...elsewhere]
  const collateral = own(collateralInputs)
  pool.hold({ id, transaction, spent, collateral, produced: effects(transaction).produced })
  return adopted
}

export type InFlightTransaction = Pick<
  BuiltTransaction,
  'id' | 'spent' | 'collateral' | 'produced' | 'transaction'
>

/** Tracks free outputs of a wallet. Each goes to one transaction; those made in flight are free at once. */
interface UtxoPool extends Pick<Wallet, 'release' | 'inFlight' | 'isInFlight'> {
  /** Applies the wallet's outputs at a tip: drops transactions that are included or expired. */
  refresh(unspent: readonly Utxo[], slot: bigint): void
  free(): readonly Utxo[]
  /** Withholds the inputs of a transaction and offers its outputs. */
  hold(transaction: InFlightTransaction): void
  /** The id of the transaction in flight that spends an output, whether the wallet owns it or not. */
  spenderOf(utxo: Utxo): Uint8Array | undefined
}

interface UtxoPoolOptions {
  readonly owns: (utxo: Utxo) => boolean
  /** How long inputs of an included transaction stay withheld: a provider may answer from an older block. */
  readonly withholdMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

export function createUtxoPool({ owns, withholdMs, now }: UtxoPoolOptions): UtxoPool {
  let confirmed = new Map<string, Utxo>()
  const held = new BytesMap<InFlightTransaction>()
  /** Inputs of included transactions, with the time until which they are withheld. */
  const included = new Map<string, number>()

  const producedInFlight = (): Map<string, Utxo> => {
    const produced = new Map<string, Utxo>()
    for (const transaction of held.values()) {
      for (const utxo of transaction.produced) if (owns(utxo)) produced.set(keyOf(utxo), utxo)
    }
    return produced
  }

  function settle(transaction: InFlightTransaction): void {
    held.delete(transaction.id)
    for (const utxo of transaction.spent) included.set(keyOf(utxo), now() + withholdMs)
    // A parent in flight must have been included too.
    for (const { reference } of transaction.spent) {
      const parent = held.get(reference.transactionId)
      if (parent) settle(parent)
    }
  }

  function release(id: Uint8Array): void {
    held.delete(id)
    for (const child of [...held.values()]) {
      const spends = [...child.spent, ...child.collateral]
      if (spends.some(({ reference }) => equalBytes(reference.transactionId, id))) release(child.id)
    }
  }

  return {
    refresh(unspent, slot) {
      confirmed = new Map(unspent.map((utxo) => [keyOf(utxo), utxo]))
      for (const [key, until] of included) if (until <= now()) included.delete(key)
      for (const transaction of [...held.values()]) {
        if (transaction.produced.some((utxo) => confirmed.has(keyOf(utxo)))) settle(transaction)
      }
      for (const transaction of [...held.values()]) {
        const upcoming = producedInFlight()
        const own = transaction.spent.filter(owns).map(keyOf)
        // An input that is neither unspent nor produced in flight is spent: by this transaction or by a
        // conflicting one.
        const spent = own.some((key) => !confirmed.has(key) && !upcoming.has(key))
        const { invalidHereafter } = transaction.transaction.body.validityInterval
        if (spent) settle(transaction)
        else if (invalidHereafter !== undefined && slot >= invalidHereafter) release(transaction.id)
      }
    },
    free() {
      const withheld = new Set(included.keys())
      for (const { spent, collateral } of held.values()) {
        for (const utxo of [...spent, ...collateral]) withheld.add(keyOf(utxo))
      }
      const outputs = new Map([...confirmed, ...producedInFlight()])
      return [...outputs].filter(([key]) => !withheld.has(key)).map(([, utxo]) => utxo)
    },
    hold(transaction) {
      held.set(transaction.id, transaction)
    },
    release,
    spenderOf(utxo) {
      const key = keyOf(utxo)
      return [...held.values()].find(({ spent }) => spent.some((other) => keyOf(other) === key))?.id
    },
    inFlight: () => [...held.keys()],
    isInFlight: (id) => held.has(id),
  }
}

function keyOf({ reference }: Pick<Utxo, 'reference'>): string {
  return outputReferenceKey(reference)
}

/**
 * The spent, read or collateral outputs of a transaction that layer 1 does not show. Outputs of transactions
 * in flight count as shown.
 *
 * @throws {Layer1Error} (rejects)
 */
export async function missingInputs(
  layer1: Pick<Layer1, 'utxosByReferences'>,
  isInFlight: (transactionId: Uint8Array) => boolean,
  { body: { inputs, referenceInputs, collateralInputs } }: Pick<Transaction, 'body'>,
  options?: CallOptions,
): Promise<OutputReference[]> {
  const needed = new Map(
    [...inputs, ...referenceInputs, ...collateralInputs]
      .filter(({ transactionId }) => !isInFlight(transactionId))
      .map((reference) => [outputReferenceKey(reference), reference]),
  )
  const found = await layer1.utxosByReferences([...needed.values()], options)
  for (const { reference } of found) needed.delete(outputReferenceKey(reference))
  return [...needed.values()]
}
