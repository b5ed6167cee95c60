import { BytesMap, equalBytes } from '@ratatosk/cbor'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'

export type InFlightTransaction = Pick<
  BuiltTransaction,
  'id' | 'spent' | 'collateral' | 'produced' | 'transaction'
>

/** Tracks free outputs of a wallet. Each goes to one transaction; those made in flight are free at once. */
interface UtxoPool {
  /** Applies the wallet's outputs at a tip: drops transactions that are included or expired. */
  refresh(unspent: readonly Utxo[], slot: bigint): void
  free(): readonly Utxo[]
  /** Withholds the inputs of a transaction and offers its outputs. */
  hold(transaction: InFlightTransaction): void
  /** Drops a transaction that will never be included, and those in flight that spend its outputs. */
  release(id: Uint8Array): void
  /** The id of the transaction in flight that spends an output, whether the wallet owns it or not. */
  spenderOf(utxo: Utxo): Uint8Array | undefined
  /** Ids of the transactions in flight, oldest first. */
  inFlight(): readonly Uint8Array[]
  isInFlight(id: Uint8Array): boolean
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

function keyOf({ reference }: Utxo): string {
  return outputReferenceKey(reference)
}
