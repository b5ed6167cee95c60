import {
  createChunker,
  createDerivation,
  type Deposit,
  type FeeTarget,
  feeOutput,
  type Header,
  partsOf,
  type ReadBody,
  withFeeOutput,
} from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { type ProvableRules, type VerdictPolicyName, verdictPolicies } from '@ratatosk/contracts'
import {
  blake2b256,
  encodeOutputReference,
  type OutputReference,
  type ProtocolParameters,
  type SlotConfig,
  type Utxo,
} from '@ratatosk/ledger'
import { buildTransaction, type DraftOutput, toOutput } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { createMemoryStore, createTrie, type Trie } from '@ratatosk/trie'
import { openContracts, publishScripts, referenceScriptsOf } from '../../contracts.js'
import { begin, commit, contracts, evaluator, keys, openScene } from '../../test/protocol-scene.js'
import { type Accusation, accuse } from '../accused-block.js'
import { deepened, freeMap, nodeOf } from './free-map.js'

/** A map by hex key. */
export type Entries = Map<string, Uint8Array>

/** The commitments of a block, without the rest of its header. */
export interface Committed extends Omit<Accusation, 'header'> {
  readonly after: Trie
  readonly outputs: { readonly before: Entries; readonly after: Entries }
  readonly roots: Pick<
    Header,
    'prevUtxosRoot' | 'utxosRoot' | 'transactionsRoot' | 'depositsRoot' | 'withdrawalsRoot'
  >
}

export const accusation = (
  { roots: _, outputs: _outputs, ...block }: Committed,
  header: Header,
): Accusation => ({
  ...block,
  header,
})

const address = keys.address.bytes
export const payment = (lovelace: bigint) =>
  toOutput({ address, value: { lovelace, assets: new Map() }, datum: { kind: 'none' } })
const utxoAt = (reference: OutputReference): Utxo => ({ reference, output: payment(5_000_000n) })
export const keyOf = (reference: OutputReference): string => toHex(encodeOutputReference(reference))

const coins = Array.from({ length: 70 }, (_, index) =>
  utxoAt({ transactionId: new Uint8Array(32).fill(0xaa), index }),
)
/** An output that never was. */
export const ghost = utxoAt({ transactionId: new Uint8Array(32).fill(0xee), index: 0 })
const secondGhost = utxoAt({ transactionId: new Uint8Array(32).fill(0xee), index: 1 })

/** Those before the first block, by reference. */
export const outputsBefore = (): Entries =>
  new Map(coins.map(({ reference, output }) => [keyOf(reference), output.bytes]))

function trieOf(entries: Entries): Trie {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert', key: fromHex(key), value })))
  return trie
}

/** Hash of the script of a bridge. */
export const bridge = new Uint8Array(28).fill(0xb1)
/** Where outputs leave layer 2. */
export const bridgeAddress = Uint8Array.of(0x70, ...bridge)
/** A deposit of 7 ada. */
export const deposit: Deposit = { id: new Uint8Array(32).fill(0xd1), output: payment(7_000_000n).bytes }

/** Whom the fees of a block with a bridge go to. */
export const operator: FeeTarget = {
  prevHeaderHash: new Uint8Array(28).fill(0x11),
  operatorVkey: new Uint8Array(28).fill(0x22),
  networkId: 0,
}

/** How a block lies, and what it is based on. */
export interface BlockOptions {
  readonly deposits?: readonly Deposit[]
  /** Hash of the bridge's script. Without it, there is no bridge. */
  readonly bridge?: Uint8Array
  /** Whom the fees go to, where there is a bridge. @defaultValue {@link operator} */
  readonly feesTo?: FeeTarget | undefined
  /** Change the maps of events before their roots are taken. */
  readonly credited?: (deposits: Entries) => unknown
  readonly leaving?: (withdrawals: Entries) => unknown
  /** Changes its map before the root is taken. */
  readonly entries?: (map: Entries) => unknown
  readonly after?: (outputs: Entries) => unknown
  readonly outputs?: Entries
  /** The parts that it reads of bodies that do not decode. */
  readonly read?: ReadBody
}

/** The block of transactions, but for what a lie changes before the roots are taken. */
export function blockOf(transactions: readonly Uint8Array[], lie: BlockOptions = {}): Committed {
  const { outputs = outputsBefore(), read, bridge: script, deposits: events = [] } = lie
  const { feesTo } = { feesTo: script && operator, ...lie }
  const before = trieOf(outputs)
  const derivation = createDerivation({ read, bridge: script })
  for (const transaction of transactions) derivation.add(transaction)
  const deposits = withFeeOutput(events, feesTo && feeOutput(feesTo, derivation.fees))
  for (const each of deposits) derivation.deposit(each)
  const { spent, produced } = derivation.diff()
  const derived = derivation.derive(before.valueHash)
  const [map, credited, leaving] = [derived.entries(), derived.deposits(), derived.withdrawals()].map(
    (entries): Entries => new Map(Array.from(entries, ([key, value]) => [toHex(key), value])),
  ) as [Entries, Entries, Entries]
  const left = new Map(outputs)
  for (const key of spent) left.delete(toHex(key))
  for (const { outref, output } of produced) left.set(toHex(outref), output)
  lie.entries?.(map)
  lie.after?.(left)
  lie.credited?.(credited)
  lie.leaving?.(leaving)
  const after = trieOf(left)
  return {
    transactions,
    deposits,
    bridge: script,
    before,
    outputBefore: (key) => outputs.get(toHex(key)),
    after,
    ...(lie.entries && { entries: Array.from(map, ([key, value]) => [fromHex(key), value] as const) }),
    outputs: { before: outputs, after: left },
    keys: [...outputs.keys(), ...left.keys()].map((key) => fromHex(key)),
    roots: {
      prevUtxosRoot: before.root,
      utxosRoot: after.root,
      transactionsRoot: trieOf(map).root,
      depositsRoot: trieOf(credited).root,
      withdrawalsRoot: trieOf(leaving).root,
    },
  }
}

/** The same lie about a ledger that has other outputs too. @param ledger with all outputs before the block */
export function blockOn(block: Committed, ledger: ReadonlyMap<string, Uint8Array>): Committed {
  const left = new Map(ledger)
  const own = block.outputs
  for (const key of own.before.keys()) if (!own.after.has(key)) left.delete(key)
  // Outputs that the block does not touch are those of the ledger.
  for (const [key, output] of own.after) if (own.before.get(key) !== output) left.set(key, output)
  const [before, after] = [trieOf(new Map(ledger)), trieOf(left)]
  return {
    ...block,
    before,
    after,
    outputBefore: (key) => ledger.get(toHex(key)),
    outputs: { before: new Map(ledger), after: left },
    keys: [...ledger.keys(), ...left.keys()].map((key) => fromHex(key)),
    roots: { ...block.roots, prevUtxosRoot: before.root, utxosRoot: after.root },
  }
}

/** A block without transactions that begins where another ends. After it, only an invented output is left. */
export function lyingSuccessor(block: Committed): Committed {
  const before = block.after
  const own = encodeOutputReference(secondGhost.reference)
  const left = createTrie({ store: createMemoryStore(), history: 0 })
  left.update([{ type: 'insert', key: own, value: secondGhost.output.bytes }])
  const outputs = new Map([[toHex(own), secondGhost.output.bytes]])
  return {
    transactions: [],
    before,
    after: left,
    outputs: { before: block.outputs.after, after: outputs },
    keys: [own],
    roots: {
      prevUtxosRoot: before.root,
      utxosRoot: left.root,
      transactionsRoot: new Uint8Array(32),
      depositsRoot: new Uint8Array(32),
      withdrawalsRoot: new Uint8Array(32),
    },
  }
}

export function chunksOf(transactions: readonly Uint8Array[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = []
  const chunker = createChunker((_, bytes) => chunks.push(Uint8Array.from(bytes)))
  for (const cbor of transactions) chunker.add(partsOf(cbor))
  chunker.end()
  return chunks
}

export const framesOf = (...transactions: readonly Uint8Array[]): Uint8Array =>
  concatBytes(...transactions.flatMap((cbor) => chunksOf([cbor])))

/** Signed transactions over the same outputs. */
export interface Story {
  readonly parameters: ProtocolParameters
  /** Of the honest block. */
  readonly transactions: readonly Uint8Array[]
  readonly firstId: Uint8Array
  /** Spends what the first of them spends. */
  readonly again: Uint8Array
  /** The same, with an output that nearly fills it. */
  readonly large: Uint8Array
  /** Spends what never was. */
  readonly conjured: Uint8Array
}

export async function tellStory(parameters: ProtocolParameters, slots: SlotConfig): Promise<Story> {
  const changeAddress = address
  const signers = [keys.payment]
  const context = { funds: [], changeAddress, signers, parameters, slots, slot: 0n, networkId: 0 } as const
  const build = (utxos: readonly Utxo[], outputs: readonly DraftOutput[]) =>
    buildTransaction({ inputs: utxos.map((utxo) => ({ utxo })), outputs }, context)
  const spend = (utxos: readonly Utxo[], ...amounts: readonly bigint[]) =>
    build(
      utxos,
      amounts.map((lovelace) => ({ address, lovelace })),
    )
  const data = encodePlutusData(new Uint8Array(12_900))
  const [coin0, coin1, coin2] = coins as [Utxo, Utxo, Utxo]
  const first = await spend([coin0, coin1], 2_000_000n, 3_000_000n)
  const second = await spend([first.produced[0]!, coin2], 1_500_000n)
  return {
    parameters,
    transactions: [first.bytes, second.bytes],
    firstId: first.id,
    large: (await build([coin0, ...coins.slice(10, 30)], [{ address, datum: { kind: 'inline', data } }]))
      .bytes,
    again: (await spend([coin0], 1_200_000n)).bytes,
    conjured: (await spend([ghost], 1_200_000n)).bytes,
  }
}

/**
 * A devnet with a block in its queue, under contracts that name all policies. `isDeep`: the transactions map
 * is committed with as many branches before each entry as a path has room for.
 */
export async function commitUnderAll(rules: ProvableRules, block: Committed, isDeep = false) {
  const policies = Object.values(verdictPolicies).map(({ script }) => script(rules))
  const own = openContracts({ ...contracts.parameters, verdictPolicies: policies }, 0)
  const scene = await openScene(own)
  const { devnet, slots, queue, registry, run } = scene
  const scripts = [...(await begin(scene, true, block.roots.prevUtxosRoot))]
  for (const policy of policies) scripts.push(...(await run(publishScripts(own, [policy]))).produced)
  const referenceScripts = referenceScriptsOf(own, scripts)
  const accused = await accuse(accusation(block, block.roots as Header))
  const leaves = Array.from(isDeep ? accused.entriesOfMap() : [], ([key, value]) => ({
    kind: 'leaf' as const,
    path: blake2b256(key),
    valueHash: blake2b256(value),
  }))
  const deep = isDeep ? freeMap(deepened(nodeOf(leaves))) : undefined
  const { header } = await commit(scene, referenceScripts, {
    ...block.roots,
    ...(deep && { transactionsRoot: deep.root }),
  })
  const prove = (key: Uint8Array) => (deep ?? accused.map).openPath(blake2b256(key)).proof
  const wanted = {
    queue: await queue(),
    registry: await registry(),
    referenceScripts,
    block: {
      ...accused,
      header,
      ...(deep && { map: { prove, proveAbsence: prove, openPath: deep.openPath } }),
    },
    rules,
  }
  const judgement = { parameters: rules.parameters, slots, slot: devnet.currentSlot(), evaluator }
  return { own, scene, wanted, judgement }
}

/** The false statement of an operator: one rule that an otherwise honest block breaks. */
export interface Lie {
  readonly what: string
  readonly policy: VerdictPolicyName
  /** The fraud; of the chunks, with the flaw: `wrongChunk: missing`. */
  readonly fraud: string
  /** Whether the transactions do not show it, so that a watcher must ask the operator. */
  readonly isHidden: boolean
  /** The fraud by which it is proven, if that is another. */
  readonly provenAs?: { readonly fraud: string; readonly because: string }
  readonly tell: (story: Story) => Committed
}

/** The parts of a lie that are its own. */
export type Told = Omit<Lie, 'policy' | 'isHidden'> & { readonly isHidden?: boolean }
