import { CborWriter, concatBytes, toHex } from '@ratatosk/cbor'
import {
  encodeAssets,
  encodeBytes,
  encodeDraft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
} from '@ratatosk/fixtures'
import { type OutputReference, outputReferenceKey } from '@ratatosk/ledger'
import type { AppliedTransaction, DropReason, Lease, LedgerEntry, Store } from '@ratatosk/store'
import { acceptedOf } from '@ratatosk/test-kit'

/** 28 bytes for each number. */
export const credential = (number: number): Uint8Array => new Uint8Array(28).fill(number)

/** An enterprise or base address. */
export function addressOf(payment: number, stake?: number): Uint8Array {
  if (stake === undefined) return concatBytes(Uint8Array.of(0x60), credential(payment))
  return concatBytes(Uint8Array.of(0x00), credential(payment), credential(stake))
}

export interface OutputDraft {
  readonly address: Uint8Array
  /** Policy number, name in hex, quantity. */
  readonly assets?: readonly (readonly [policy: number, name: string, quantity: number])[]
  /** Plutus data, inline. */
  readonly datum?: Uint8Array
  /** Content of a Plutus V3 script. */
  readonly script?: Uint8Array
}

export interface TransactionDraft {
  readonly inputs: readonly OutputReference[]
  readonly outputs: readonly OutputDraft[]
  readonly mint?: readonly (readonly [policy: number, name: string, quantity: number])[]
  readonly datums?: readonly Uint8Array[]
  readonly scripts?: readonly Uint8Array[]
  /** Redeemers with Plutus data; the tags are 0 for an input, 1 for a policy, 3 for a withdrawal. */
  readonly redeemers?: readonly (readonly [tag: number, index: number, data: Uint8Array])[]
  /** Numbers of scripts that withdraw zero. */
  readonly withdrawals?: readonly number[]
  /** Labels of metadata, each with the same value. */
  readonly labels?: readonly bigint[]
  /** Marks the transaction invalid: it spends this and pays it back. */
  readonly collateral?: { readonly input: OutputReference; readonly back: OutputDraft }
  /** Distinguishes transactions that are otherwise equal. */
  readonly fee?: number
}

/** A transaction as validation gives it to the store, unsigned and unbalanced. */
export function transactionOf(draft: TransactionDraft): AppliedTransaction {
  const { inputs, outputs, mint = [], datums = [], scripts = [], labels = [], collateral, fee = 0 } = draft
  const { redeemers = [], withdrawals = [] } = draft
  const body = new Map([
    [0, referencesOf(inputs)],
    [1, encodeList(outputs.map(outputOf))],
    [2, encodeUint(fee)],
  ])
  if (withdrawals.length > 0) body.set(5, withdrawalsOf(withdrawals))
  if (mint.length > 0) body.set(9, encodeAssets(assetsOf(mint)))
  if (collateral) body.set(13, referencesOf([collateral.input])).set(16, outputOf(collateral.back))
  const witnesses = new Map<number, Uint8Array>()
  if (datums.length > 0) witnesses.set(4, encodeSet(datums))
  if (redeemers.length > 0) {
    const units = encodeList([encodeUint(1_000), encodeUint(20_000)])
    const entries = redeemers.map(([tag, index, data]) =>
      encodeList([encodeUint(tag), encodeUint(index), data, units]),
    )
    witnesses.set(5, encodeList(entries))
  }
  if (scripts.length > 0) witnesses.set(7, encodeSet(scripts.map(encodeBytes)))
  const auxiliaryData = new CborWriter().map(labels.length)
  for (const label of labels) auxiliaryData.uint(label).text('a test')
  return acceptedOf(
    encodeDraft({
      body,
      witnesses,
      signers: [],
      isValid: collateral === undefined,
      ...(labels.length > 0 && { auxiliaryData: auxiliaryData.toBytes() }),
    }),
  )
}

export function genesisOf(outputs: readonly OutputDraft[]): LedgerEntry[] {
  return outputs.map((output, index) => ({
    reference: { transactionId: new Uint8Array(32).fill(0xee), index },
    output: outputOf(output),
    address: output.address,
    paymentCredential: output.address.subarray(1, 29),
  }))
}

function outputOf({ address, assets = [], datum, script }: OutputDraft): Uint8Array {
  return encodeOutput({
    address,
    lovelace: 2_000_000n,
    ...(assets.length > 0 && { assets: assetsOf(assets) }),
    ...(datum && { inlineDatum: datum }),
    ...(script && { script: encodeList([encodeUint(3), encodeBytes(script)]) }),
  })
}

function assetsOf(assets: NonNullable<OutputDraft['assets']>) {
  return assets.map(([policy, name, quantity]) => [credential(policy), name, BigInt(quantity)] as const)
}

function withdrawalsOf(scripts: readonly number[]): Uint8Array {
  const writer = new CborWriter().map(scripts.length)
  for (const number of scripts) writer.bytes(concatBytes(Uint8Array.of(0xf0), credential(number))).uint(0)
  return writer.toBytes()
}

function referencesOf(inputs: readonly OutputReference[]): Uint8Array {
  return encodeSet(inputs.map(({ transactionId, index }) => encodeInput(transactionId, index)))
}

export const genesis: readonly LedgerEntry[] = genesisOf(
  Array.from({ length: 40 }, (_, number) => ({
    address: addressOf(number % 7, number % 3 === 0 ? 100 + (number % 2) : undefined),
    ...(number % 5 === 0 && { assets: [[200, 'aa', 5]] }),
  })),
)

/** Numbers from 0 to below 1, the same for each seed (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export interface Happened {
  accepted: number
  blocks: number
  /** Blocks whose transactions went back to the mempool. */
  removed: number
  /** Blocks that were undone: a fraud proof took them out, with all that came after them. */
  undone: number
  dropped: number
  resets: number
}

/** A store whose ledger lives a random life: batches, blocks, removals, drops, resets. */
export class History {
  readonly happened: Happened = { accepted: 0, blocks: 0, removed: 0, undone: 0, dropped: 0, resets: 0 }
  readonly #store: Store
  readonly #lease: Lease
  readonly #random: () => number
  #unspent = new Map<string, LedgerEntry>()
  #mempool: AppliedTransaction[] = []
  /** Unmerged blocks. */
  #blocks: { readonly height: bigint; readonly transactions: AppliedTransaction[] }[] = []
  /** Every output that was ever produced, to restore what dropped transactions spent. */
  readonly #produced = new Map<string, LedgerEntry>()
  #counter = 0

  constructor(store: Store, lease: Lease, random: () => number) {
    this.#store = store
    this.#lease = lease
    this.#random = random
  }

  async begin(): Promise<void> {
    await this.#store.applyGenesis(genesis)
    for (const entry of genesis) this.#add(entry)
  }

  /** @param batch the most transactions at a time */
  async step(batch: number): Promise<void> {
    const kind = this.#random()
    if (kind < 0.7 || this.#mempool.length === 0) await this.#accept(1 + this.#below(batch))
    else if (kind < 0.82) await this.#build()
    else if (kind < 0.88) await this.#merge()
    else if (kind < 0.92) await this.#remove()
    else if (kind < 0.94) await this.#undo()
    else if (kind < 0.998) await this.#drop()
    else await this.#reset()
  }

  async #accept(count: number): Promise<void> {
    const candidates = [...this.#unspent.values()]
    const transactions = Array.from({ length: count }, () => {
      const transaction = transactionOf(this.#draft(candidates))
      for (const reference of transaction.spent) this.#unspent.delete(outputReferenceKey(reference))
      for (const entry of transaction.produced) this.#add(entry)
      candidates.push(...transaction.produced)
      return transaction
    })
    await this.#store.withLedger((ledger) => ledger.apply({ transactions }))
    this.#mempool.push(...transactions)
    this.happened.accepted += count
  }

  /** @param candidates includes every unspent output, and perhaps outputs that were spent meanwhile */
  #draft(candidates: readonly LedgerEntry[]): TransactionDraft {
    const inputs = new Map<string, OutputReference>()
    const wanted = Math.min(1 + this.#below(2), this.#unspent.size)
    while (inputs.size < wanted) {
      const { reference } = candidates[this.#below(candidates.length)] ?? {}
      if (reference === undefined) break
      const key = outputReferenceKey(reference)
      if (this.#unspent.has(key)) inputs.set(key, reference)
    }
    const outputs = Array.from({ length: 1 + this.#below(3) }, () => this.#output())
    const [input] = inputs.values()
    const mint = this.#chance(0.2)
    const withdraws = this.#chance(0.1)
    const purposes = [...(input === undefined ? [] : [0]), ...(mint ? [1] : []), ...(withdraws ? [3] : [])]
    const redeemers = purposes.map((tag) => [tag, 0, this.#datum()] as const)
    return {
      inputs: [...inputs.values()],
      outputs,
      fee: this.#counter++,
      ...(mint && { mint: [[200 + this.#below(3), this.#name(), this.#chance(0.5) ? 3 : -1]] }),
      ...(this.#chance(0.2) && { datums: [this.#datum()] }),
      ...(this.#chance(0.2) && { scripts: [Uint8Array.of(1, this.#below(6))] }),
      ...(this.#chance(0.2) && { labels: [BigInt(this.#below(3))] }),
      ...(this.#chance(0.2) && { redeemers }),
      ...(withdraws && { withdrawals: [60 + this.#below(3)] }),
      ...(this.#chance(0.1) && input !== undefined && { collateral: { input, back: this.#output() } }),
    }
  }

  #output(): OutputDraft {
    return {
      address: addressOf(this.#below(7), this.#chance(0.3) ? 100 + this.#below(2) : undefined),
      ...(this.#chance(0.3) && {
        assets: [[200 + this.#below(3), this.#name(), 1 + this.#below(9)]],
      }),
      ...(this.#chance(0.2) && { datum: this.#datum() }),
      ...(this.#chance(0.1) && { script: Uint8Array.of(1, this.#below(6)) }),
    }
  }

  /** A small integer as Plutus data: the same one occurs in many transactions. */
  #datum = (): Uint8Array => Uint8Array.of(this.#below(12))
  #name = (): string => ['', 'aa', 'bb'][this.#below(3)] ?? ''

  async #build(): Promise<void> {
    const { blocks } = this.#store
    const transactions = this.#mempool.splice(0, 1 + this.#below(this.#mempool.length))
    const oldest = await blocks.oldest(transactions.length)
    const newest = await blocks.newest()
    const number = this.#counter++
    const hash = (size: number) =>
      Buffer.concat([Buffer.from(String(number)), Buffer.alloc(size)]).subarray(0, size)
    const block = await blocks.build(
      {
        headerHash: hash(28),
        header: hash(4),
        previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
        utxosRoot: hash(32),
        startTime: BigInt(number),
        endTime: BigInt(number + 1),
        firstSequence: oldest.at(0)?.sequence ?? 0n,
        lastSequence: oldest.at(-1)?.sequence ?? 0n,
        transactions: oldest.length,
        commitTransaction: { id: hash(32), cbor: hash(4) },
      },
      this.#lease,
    )
    this.#blocks.push({ height: block.height, transactions })
    this.happened.blocks += 1
  }

  async #merge(): Promise<void> {
    const [oldest] = await this.#store.blocks.unmerged()
    if (oldest === undefined) return
    await this.#store.blocks.setState([oldest.headerHash], 'merged', this.#lease)
    this.#blocks.shift()
  }

  async #remove(): Promise<void> {
    const first = this.#below(this.#blocks.length)
    const from = this.#blocks[first]
    if (from === undefined) return
    const removed = this.#blocks.splice(first)
    await this.#store.blocks.returnToMempool(from.height, this.#lease)
    this.#mempool.unshift(...removed.flatMap(({ transactions }) => transactions))
    this.happened.removed += removed.length
  }

  /** Undoes a block, all later ones and the mempool. */
  async #undo(): Promise<void> {
    const first = this.#below(this.#blocks.length)
    const from = this.#blocks[first]
    if (from === undefined) return
    const undone = this.#blocks.splice(first)
    await this.#store.blocks.undo(from.height, this.#lease)
    const gone = [...undone.flatMap(({ transactions }) => transactions), ...this.#mempool]
    this.#mempool = []
    this.#forget(gone)
    this.happened.undone += undone.length
  }

  /** Drops a transaction of the mempool, often the oldest, and all that depend on it. */
  async #drop(): Promise<void> {
    const first = this.#mempool[this.#chance(0.5) ? 0 : this.#below(this.#mempool.length)]
    if (first === undefined) return
    const reason: DropReason = { code: 'BadInputsUTxO', message: 'Dropped by a test', details: {} }
    const gone = new Map([[toHex(first.id), first]])
    for (const transaction of this.#mempool) {
      const depends = transaction.spent.some(({ transactionId }) => gone.has(toHex(transactionId)))
      if (depends) gone.set(toHex(transaction.id), transaction)
    }
    await this.#store.blocks.drop(
      new Map([[toHex(first.id), reason]]),
      ({ id }) => (gone.has(toHex(id)) ? reason : undefined),
      this.#lease,
    )
    this.#mempool = this.#mempool.filter(({ id }) => !gone.has(toHex(id)))
    this.#forget([...gone.values()])
    // Some are submitted again.
    if (this.#chance(0.5)) {
      await this.#store.withLedger((ledger) => ledger.apply({ transactions: [first] }))
      this.#mempool.push(first)
      for (const reference of first.spent) this.#unspent.delete(outputReferenceKey(reference))
      for (const entry of first.produced) this.#add(entry)
    }
    this.happened.dropped += gone.size
  }

  async #reset(): Promise<void> {
    await this.#store.blocks.reset(this.#lease)
    this.#mempool = []
    this.#blocks = []
    this.#unspent = new Map()
    this.happened.resets += 1
    await this.begin()
  }

  #forget(transactions: readonly AppliedTransaction[]): void {
    for (const { spent } of transactions) {
      for (const reference of spent) {
        const entry = this.#produced.get(outputReferenceKey(reference))
        if (entry !== undefined) this.#unspent.set(outputReferenceKey(reference), entry)
      }
    }
    for (const { produced } of transactions) {
      for (const { reference } of produced) this.#unspent.delete(outputReferenceKey(reference))
    }
  }

  #add(entry: LedgerEntry): void {
    this.#produced.set(outputReferenceKey(entry.reference), entry)
    this.#unspent.set(outputReferenceKey(entry.reference), entry)
  }

  #below = (limit: number): number => Math.floor(this.#random() * limit)
  #chance = (probability: number): boolean => this.#random() < probability
}
