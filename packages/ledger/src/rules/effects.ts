import { EffectsError } from '../errors.js'
import { outputReferenceKey } from '../transaction/output-reference.js'
import type { OutputReference, Transaction, TransactionOutput } from '../transaction/types.js'

/** The changes that a transaction makes to the unspent outputs. */
export interface Effects {
  readonly spent: readonly OutputReference[]
  readonly produced: readonly { readonly reference: OutputReference; readonly output: TransactionOutput }[]
}

/**
 * Returns the outputs that a transaction spends and produces when it is included. A transaction marked
 * invalid (`isValid` false) spends its collateral and produces its collateral return, whose index is the
 * number of its regular outputs. The transaction is not validated.
 */
export function effects({ id, body, isValid }: Transaction): Effects {
  if (isValid) {
    return {
      spent: body.inputs,
      produced: body.outputs.map((output, index) => ({ reference: { transactionId: id, index }, output })),
    }
  }
  const { collateralInputs, collateralReturn } = body
  const reference = { transactionId: id, index: body.outputs.length }
  return {
    spent: collateralInputs,
    produced: collateralReturn ? [{ reference, output: collateralReturn }] : [],
  }
}

/** A transaction and its effects in bytes, as what keeps the unspent outputs takes them. */
export interface AppliedTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** As submitted. */
  readonly cbor: Uint8Array
  readonly spent: readonly OutputReference[]
  /** `output`: CBOR; `address`: bytes; `left`: it leaves the ledger at once, so that nothing spends it. */
  readonly produced: readonly {
    readonly reference: OutputReference
    readonly output: Uint8Array
    readonly address: Uint8Array
    readonly left?: true
  }[]
}

/**
 * @param leaves whether an output leaves the ledger; none does by default
 * @param known the transaction's effects, if they are known
 */
export function appliedTransaction(
  transaction: Transaction,
  leaves: (output: TransactionOutput) => boolean = () => false,
  known: Effects = effects(transaction),
): AppliedTransaction {
  const { spent, produced } = known
  return {
    id: transaction.id,
    cbor: transaction.bytes,
    spent,
    produced: produced.map(({ reference, output }) => ({
      reference,
      output: output.bytes,
      address: output.address.bytes,
      ...(leaves(output) && { left: true }),
    })),
  }
}

/** An output that a sequence of transactions spends and did not produce. */
export interface NetSpent {
  readonly reference: OutputReference
  /** Position of the transaction that spends it, from 0. */
  readonly spentBy: number
}

/** An output that a sequence of transactions produces. */
export interface NetProduced<Output> {
  readonly output: Output
  /** Position of the transaction that produces it, from 0. */
  readonly producedBy: number
  /**
   * Position of the transaction of the same sequence that spends it; undefined if it is unspent at the end.
   */
  spentBy: number | undefined
}

/** The net effects of a sequence of transactions. Keys of both maps are `outputReferenceKey`s. */
export interface NetEffects<Output extends { readonly reference: OutputReference }> {
  readonly spent: ReadonlyMap<string, NetSpent>
  /** Includes outputs that the sequence itself spends. */
  readonly produced: ReadonlyMap<string, NetProduced<Output>>
  /**
   * Adds the next transaction of the sequence: its `effects`, whose outputs may have any other form.
   *
   * @throws EffectsError if it contradicts an earlier transaction; the net effects are unusable afterwards
   */
  add(transaction: { readonly spent: readonly OutputReference[]; readonly produced: readonly Output[] }): void
}

/**
 * Starts the net effects of a sequence of transactions: what they spend and produce together.
 *
 * @example
 * const net = createNetEffects<Effects['produced'][number]>()
 * for (const transaction of transactions) net.add(effects(transaction))
 */
export function createNetEffects<
  Output extends { readonly reference: OutputReference },
>(): NetEffects<Output> {
  const spent = new Map<string, NetSpent>()
  const produced = new Map<string, NetProduced<Output>>()
  let position = 0

  function spend(reference: OutputReference): void {
    const key = outputReferenceKey(reference)
    const own = produced.get(key)
    if (spent.has(key) || own?.spentBy !== undefined) {
      const message = `Transaction ${position} spends ${key} a second time`
      throw new EffectsError('EFFECTS_DOUBLE_SPEND', message, key, position)
    }
    if (own === undefined) spent.set(key, { reference, spentBy: position })
    else own.spentBy = position
  }

  function produce(output: Output): void {
    const key = outputReferenceKey(output.reference)
    const earlier = spent.get(key)
    if (earlier !== undefined) {
      const message = `Transaction ${earlier.spentBy} spends ${key}, which transaction ${position} produces`
      throw new EffectsError('EFFECTS_SPENT_BEFORE_PRODUCED', message, key, position)
    }
    if (produced.has(key)) {
      const message = `Transaction ${position} produces ${key} a second time`
      throw new EffectsError('EFFECTS_OUTPUT_EXISTS', message, key, position)
    }
    produced.set(key, { output, producedBy: position, spentBy: undefined })
  }

  return {
    spent,
    produced,
    add(transaction) {
      for (const reference of transaction.spent) spend(reference)
      for (const output of transaction.produced) produce(output)
      position++
    },
  }
}
