import { toHex } from '@ratatosk/cbor'
import { comparePlaces, holdsFor, paymentCredential, units } from '@ratatosk/chain-apis'
import {
  blake2b256,
  effects,
  metadataLabels,
  outputReferenceKey,
  type Script,
  type Transaction,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { type AccountView, createAccounts } from './accounts.js'
import type { ChainOutput, ChainTip, DevnetBlock, DevnetTransaction, Place, UtxoQuery } from './types.js'

/** The confirmed chain and the state derived from it. Blocks are appended and undone at the tip only. */
export interface Chain {
  readonly tip: ChainTip
  readonly outputs: OutputIndex
  readonly accounts: AccountView
  readonly preimages: ReturnType<typeof createPreimages>
  /** By height or hash. */
  block(at: number | string): DevnetBlock | undefined
  transaction(hash: string): { readonly transaction: DevnetTransaction; readonly place: Place } | undefined
  /** Ids of valid transactions whose metadata has a label, oldest first. */
  labelled(label: bigint): readonly string[]
  /** The labels of metadata, in no order. */
  labels(): readonly bigint[]
  append(block: DevnetBlock): void
  undo(): DevnetBlock
  prune(height: number): void
  /** The newest block at or below a height that was not pruned, or genesis. */
  nearest(height: number): ChainTip
}

export function createChain(genesis: ChainTip, keyDeposit: bigint): Chain {
  const outputs = createOutputIndex()
  const accounts = createAccounts(keyDeposit)
  /** Undo the changes of accounts, one for each transaction. */
  const undoAccounts: (() => void)[] = []
  const preimages = createPreimages()
  /** Each by its height and by its hash. */
  const blocks = new Map<number | string, DevnetBlock>()
  const transactions = new Map<string, { transaction: DevnetTransaction; place: Place }>()
  const labels = new Map<bigint, string[]>()
  let tip = genesis

  function apply(chainTransaction: DevnetTransaction, place: Place): void {
    const { hash, transaction } = chainTransaction
    const { spent, produced } = effects(transaction)
    const by = transaction.isValid ? 'inputs' : 'collateral'
    for (const reference of spent) {
      outputs.spend(outputReferenceKey(reference), { ...place, transactionHash: hash, by })
    }
    for (const { reference, output } of produced) {
      outputs.add({
        key: outputReferenceKey(reference),
        transactionHash: hash,
        index: reference.index,
        output,
        created: place,
        collateralReturn: !transaction.isValid,
      })
    }
    undoAccounts.push(accounts.apply(transaction))
    preimages.addTransaction(transaction)
    for (const label of labelsOf(transaction)) {
      const labelled = labels.get(label)
      if (labelled === undefined) labels.set(label, [hash])
      else labelled.push(hash)
    }
    transactions.set(hash, { transaction: chainTransaction, place })
  }

  function revert({ hash, transaction }: DevnetTransaction): void {
    const { spent, produced } = effects(transaction)
    for (const { reference } of produced) outputs.remove(outputReferenceKey(reference))
    for (const reference of spent) outputs.unspend(outputReferenceKey(reference))
    // The newest transaction is undone first.
    undoAccounts.pop()?.()
    for (const label of labelsOf(transaction)) labels.get(label)?.pop()
    transactions.delete(hash)
  }

  function forget(block: DevnetBlock): void {
    blocks.delete(block.height)
    blocks.delete(block.hash)
  }

  return {
    get tip() {
      return tip
    },
    outputs,
    accounts,
    preimages,
    block: (at) => blocks.get(at),
    transaction: (hash) => transactions.get(hash),
    labelled: (label) => labels.get(label) ?? [],
    labels: () => [...labels].flatMap(([label, { length }]) => (length > 0 ? label : [])),
    append(block) {
      const at = { height: block.height, slot: block.slot, hash: block.hash }
      block.transactions.forEach((transaction, position) => {
        apply(transaction, { block: at, position })
      })
      blocks.set(block.height, block).set(block.hash, block)
      tip = at
    },
    undo() {
      const block = blocks.get(tip.height)
      if (block === undefined) throw new RangeError(`no block at height ${tip.height} to undo`)
      for (const transaction of [...block.transactions].reverse()) revert(transaction)
      forget(block)
      tip = nearest(block.height - 1)
      return block
    },
    prune(height) {
      const block = blocks.get(height)
      if (block?.transactions.length === 0) forget(block)
    },
    nearest,
  }

  function nearest(height: number): ChainTip {
    for (let at = height; at > 0; at--) {
      const block = blocks.get(at)
      if (block !== undefined) return { height: block.height, slot: block.slot, hash: block.hash }
    }
    return genesis
  }
}

/** The labels of a transaction's metadata, which one without valid scripts does not have. */
function labelsOf({ auxiliaryData, isValid }: Transaction): bigint[] {
  if (!isValid || auxiliaryData === undefined) return []
  return metadataLabels(auxiliaryData).map(({ label }) => label)
}

/** Datums and scripts by hash. They survive an undone block: a preimage stays valid for its hash. */
function createPreimages() {
  const datums = new Map<string, Uint8Array>()
  const scripts = new Map<string, Script>()

  function addOutput({ datum, referenceScript }: TransactionOutput): void {
    if (datum.kind === 'inline') datums.set(toHex(blake2b256(datum.data)), datum.data)
    if (referenceScript !== undefined) scripts.set(toHex(referenceScript.hash), referenceScript)
  }

  return {
    datum: (hash: string) => datums.get(hash),
    script: (hash: string) => scripts.get(hash),
    scripts: () => [...scripts.keys()],
    addOutput,
    addTransaction({ body, witnesses, auxiliaryData }: Transaction): void {
      for (const [hash, datum] of witnesses.datums) datums.set(hash, datum)
      for (const { data } of witnesses.redeemers) datums.set(toHex(blake2b256(data)), data)
      for (const script of [...witnesses.scripts, ...(auxiliaryData?.scripts ?? [])])
        scripts.set(toHex(script.hash), script)
      for (const output of body.outputs) addOutput(output)
      if (body.collateralReturn !== undefined) addOutput(body.collateralReturn)
    },
  }
}

type Spending = NonNullable<ChainOutput['spent']>

/** All outputs of the chain; the unspent ones by address, credential, policy and asset. */
interface OutputIndex {
  get(key: string): ChainOutput | undefined
  unspent(key: string): TransactionOutput | undefined
  /** Unspent outputs, oldest first; the query's `address` is the hex of the address bytes. */
  find(query: UtxoQuery): ChainOutput[]
  /** All outputs including spent ones, oldest first. */
  all(): ChainOutput[]
  /** The outputs of one transaction including spent ones, by index. */
  of(transactionHash: string): ChainOutput[]
  /** True if any output was ever sent to the address, given as the hex of its bytes. */
  knowsAddress(address: string): boolean
  add(output: ChainOutput): void
  remove(key: string): void
  spend(key: string, spent: Spending): void
  unspend(key: string): void
}

type Entry = { -readonly [field in keyof ChainOutput]: ChainOutput[field] }

function createOutputIndex(): OutputIndex {
  const outputs = new Map<string, Entry>()
  const byTransaction = new Map<string, Set<Entry>>()
  const outputsPerAddress = new Map<string, number>()
  const unspent = new Set<Entry>()
  const unspentByAddress = new Map<string, Set<Entry>>()
  const unspentByCredential = new Map<string, Set<Entry>>()
  const unspentByPolicy = new Map<string, Set<Entry>>()
  const unspentByUnit = new Map<string, Set<Entry>>()

  function* indexKeys({ output }: Entry): Generator<[Map<string, Set<Entry>>, string]> {
    yield [unspentByAddress, toHex(output.address.bytes)]
    const credential = paymentCredential(output)
    if (credential !== undefined) yield [unspentByCredential, credential]
    for (const policy of output.value.assets.keys()) yield [unspentByPolicy, policy]
    for (const unit of units(output)) yield [unspentByUnit, unit]
  }

  function addUnspent(entry: Entry): void {
    unspent.add(entry)
    for (const [index, key] of indexKeys(entry)) addTo(index, key, entry)
  }

  function removeUnspent(entry: Entry): void {
    unspent.delete(entry)
    for (const [index, key] of indexKeys(entry)) removeFrom(index, key, entry)
  }

  /** The smallest indexed set that contains every match. */
  function candidates(query: UtxoQuery): Iterable<Entry> {
    const { references, transaction, address, paymentCredential, policy, unit } = query
    if (references !== undefined) {
      return [...new Set(references)].flatMap((key) => outputs.get(key) ?? [])
    }
    if (transaction !== undefined) return byTransaction.get(transaction) ?? []
    if (unit !== undefined) return unspentByUnit.get(unit) ?? []
    if (policy !== undefined) return unspentByPolicy.get(policy) ?? []
    if (address !== undefined) return unspentByAddress.get(address) ?? []
    if (paymentCredential !== undefined) return unspentByCredential.get(paymentCredential) ?? []
    return unspent
  }

  function countAddress({ output }: ChainOutput, change: number): void {
    const address = toHex(output.address.bytes)
    const count = (outputsPerAddress.get(address) ?? 0) + change
    if (count === 0) outputsPerAddress.delete(address)
    else outputsPerAddress.set(address, count)
  }

  return {
    get: (key) => outputs.get(key),
    unspent(key) {
      const entry = outputs.get(key)
      return entry === undefined || entry.spent !== undefined ? undefined : entry.output
    },
    find(query) {
      const found: Entry[] = []
      for (const entry of candidates(query)) if (matches(entry, query)) found.push(entry)
      return found.sort(byAge)
    },
    all: () => [...outputs.values()].sort(byAge),
    of: (transactionHash) => [...(byTransaction.get(transactionHash) ?? [])].sort(byAge),
    knowsAddress: (address) => outputsPerAddress.has(address),
    add(output) {
      const entry = { ...output }
      outputs.set(output.key, entry)
      addTo(byTransaction, output.transactionHash, entry)
      countAddress(output, 1)
      addUnspent(entry)
    },
    remove(key) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      outputs.delete(key)
      removeFrom(byTransaction, entry.transactionHash, entry)
      countAddress(entry, -1)
      removeUnspent(entry)
    },
    spend(key, spent) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      entry.spent = spent
      removeUnspent(entry)
    },
    unspend(key) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      delete entry.spent
      addUnspent(entry)
    },
  }
}

function addTo(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const set = index.get(key)
  if (set === undefined) index.set(key, new Set([entry]))
  else set.add(entry)
}

function removeFrom(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const set = index.get(key)
  set?.delete(entry)
  if (set?.size === 0) index.delete(key)
}

function matches(entry: Entry, query: UtxoQuery): boolean {
  const { transaction } = query
  if (entry.spent !== undefined) return false
  if (transaction !== undefined && entry.transactionHash !== transaction) return false
  return holdsFor(entry.output, query)
}

function byAge(a: ChainOutput, b: ChainOutput): number {
  return comparePlaces(a.created, b.created) || a.index - b.index
}
