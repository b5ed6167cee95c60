import {
  decodeTransaction,
  effects,
  equalBytes,
  type OutputReference,
  outputReferenceKey,
  toHex,
  type Value,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import { isLayer1Error } from '../errors.js'
import type { SigningKey, WalletKeys } from '../keys/types.js'
import { buildTransaction } from '../transaction/build-transaction.js'
import { invalidDraft } from '../transaction/plan.js'
import { addValue, type Quantities, toValue } from '../transaction/quantities.js'
import type { BuiltTransaction, TransactionDraft } from '../transaction/types.js'
import type { CallOptions, Layer1, Utxo } from '../types.js'
import { createUtxoPool } from './utxo-pool.js'

export interface WalletOptions {
  readonly layer1: Layer1
  readonly keys: WalletKeys
  /** Runs Plutus scripts; without it such transactions are refused. It stays its owner's. */
  readonly evaluator?: Pick<Evaluator, 'evaluate'>
  /** How long a transaction without `validUntil` may be included, in milliseconds; default 1,800,000. */
  readonly lifetimeMs?: number
  /** How long inputs of an included transaction stay withheld, in case a provider answers from an older block; default 120,000. */
  readonly withholdMs?: number
}

export interface BuildOptions extends CallOptions {
  /** Keys of others that sign too. */
  readonly cosigners?: readonly SigningKey[]
}

/** The funds of one role. One process has one of it for each address, or outputs would be spent twice. */
export interface Wallet {
  /** Bech32. */
  readonly address: string
  readonly keys: WalletKeys
  /** What the confirmed outputs at the address hold. */
  balance(options?: CallOptions): Promise<Value>
  /**
   * Builds, signs and judges a transaction and withholds its inputs from all others, until it is included, its validity
   * has passed, or `release`. The next one may spend its change at once, so they are to be sent in the order in which they were
   * built. It is not sent: whoever must survive a crash stores `bytes` first. A draft that names an output that a transaction in
   * flight spends is refused.
   *
   * @throws {WalletError} (rejects); nothing is withheld then
   * @throws {Layer1Error} (rejects)
   */
  build(draft: TransactionDraft, options?: BuildOptions): Promise<BuiltTransaction>
  /**
   * Sends a transaction that was built or adopted. Where the network rejects it, its inputs are free again; where it is not
   * known whether it arrived, they stay withheld, and it may be sent again.
   *
   * @returns its id
   * @throws {Layer1Error} (rejects)
   */
  submit(transaction: Pick<BuiltTransaction, 'id' | 'bytes'>, options?: CallOptions): Promise<string>
  /** `build` and `submit`. */
  send(draft: TransactionDraft, options?: BuildOptions): Promise<BuiltTransaction>
  /**
   * Withholds the inputs of a transaction of an earlier process, which may still be on its way. Several are adopted, and sent again,
   * in the order in which they were built. One that is included, or whose inputs are spent, is not `inFlight` afterwards.
   */
  adopt(cbor: Uint8Array, options?: CallOptions): Promise<Pick<BuiltTransaction, 'id' | 'bytes'>>
  /** Frees the inputs of a transaction that will never be sent, and forgets those in flight that spend its outputs. */
  release(id: string): void
  /** Ids of the transactions in flight, oldest first. */
  inFlight(): readonly string[]
}

const DEFAULT_LIFETIME_MS = 1_800_000
const DEFAULT_WITHHOLD_MS = 120_000

/**
 * Opens a wallet.
 *
 * @throws TypeError where keys and layer 1 belong to different networks
 * @example
 * const faucet = openWallet({ layer1, keys: keysFromSeedPhrase(phrase, { networkId: 0 }) })
 * const { id } = await faucet.send({ outputs: [{ address, lovelace: 100_000_000n }] })
 * await layer1.await(id)
 */
export function openWallet(options: WalletOptions): Wallet {
  const { layer1, keys, evaluator } = options
  const { lifetimeMs = DEFAULT_LIFETIME_MS, withholdMs = DEFAULT_WITHHOLD_MS } = options
  if (keys.address.networkId !== layer1.networkId) {
    throw new TypeError(`The keys' address is not of the network of ${layer1.name}`)
  }
  const owns = ({ output }: Pick<Utxo, 'output'>): boolean =>
    equalBytes(output.address.bytes, keys.address.bytes)
  const pool = createUtxoPool({ owns, withholdMs, now: () => performance.now() })
  let turn: Promise<unknown> = Promise.resolve()

  /** One after another: what one build takes, the next must not see. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = turn.then(run, run)
    turn = result.catch(() => {})
    return result
  }

  async function refresh(call: CallOptions): Promise<void> {
    // The tip first: outputs are then no older than it.
    const { slot } = await layer1.tip(call)
    pool.refresh(await layer1.utxosAt(keys.addressText, call), slot)
  }

  async function build(
    draft: TransactionDraft,
    { cosigners = [], ...call }: BuildOptions,
  ): Promise<BuiltTransaction> {
    await refresh(call)
    for (const { utxo } of draft.inputs ?? []) {
      const spender = pool.spenderOf(utxo)
      if (spender === undefined) continue
      throw invalidDraft(`${outputReferenceKey(utxo.reference)} is spent by ${spender}, which is in flight`)
    }
    const [parameters, slots, slot] = await Promise.all([
      layer1.parameters(call),
      layer1.slots(call),
      layer1.currentSlot(call),
    ])
    const validUntil = draft.validUntil ?? slot + BigInt(Math.ceil(lifetimeMs / slots.slotLength))
    const signers = new Map([keys.payment, ...cosigners].map((key) => [toHex(key.hash), key]))
    const built = await buildTransaction(
      { ...draft, validUntil },
      {
        funds: pool.free(),
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

  async function submit(
    { id, bytes }: Pick<BuiltTransaction, 'id' | 'bytes'>,
    call: CallOptions = {},
  ): Promise<string> {
    try {
      return await layer1.submit(bytes, call)
    } catch (error) {
      const final = isLayer1Error(error) && (error.kind === 'rejected' || error.kind === 'wrong network')
      if (final && !error.mayHaveEffect) pool.release(id)
      throw error
    }
  }

  async function adopt(cbor: Uint8Array, call: CallOptions): Promise<Pick<BuiltTransaction, 'id' | 'bytes'>> {
    const transaction = decodeTransaction(cbor)
    const id = toHex(transaction.id)
    const adopted = { id, bytes: transaction.bytes }
    await refresh(call)
    if ((await layer1.status(id, call)).kind === 'confirmed') return adopted
    const free = new Map(pool.free().map((utxo) => [outputReferenceKey(utxo.reference), utxo]))
    const own = (references: readonly OutputReference[]): Utxo[] =>
      references.flatMap((reference) => free.get(outputReferenceKey(reference)) ?? [])
    const { inputs, collateralInputs } = transaction.body
    const missing = inputs.filter((reference) => !free.has(outputReferenceKey(reference)))
    const elsewhere = await layer1.utxosByReferences(missing, call)
    // Inputs that are spent, or withheld for another transaction: it has lost, and what it would make will never be.
    if (elsewhere.length < missing.length || elsewhere.some(owns)) return adopted
    const spent = [...own(inputs), ...elsewhere]
    const collateral = own(collateralInputs)
    pool.hold({ id, transaction, spent, collateral, produced: effects(transaction).produced })
    return adopted
  }

  return {
    address: keys.addressText,
    keys,
    async balance(call) {
      const sum: Quantities = new Map()
      for (const { output } of await layer1.utxosAt(keys.addressText, call)) addValue(sum, output.value)
      return toValue(sum)
    },
    build: (draft, call = {}) => inTurn(() => build(draft, call)),
    submit,
    async send(draft, call = {}) {
      const built = await inTurn(() => build(draft, call))
      await submit(built, call.signal ? { signal: call.signal } : {})
      return built
    },
    adopt: (cbor, call = {}) => inTurn(() => adopt(cbor, call)),
    release: (id) => pool.release(id),
    inFlight: () => pool.inFlight(),
  }
}
