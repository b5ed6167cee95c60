import { encodeHeader, type Header, headerHash } from '@ratatosk/contracts'
import {
  type BlockElement,
  type BuiltTransaction,
  commitBlock as draftCommit,
  type RegistryElement,
  type RootElement,
} from '@ratatosk/layer1'
import { fromHex } from '@ratatosk/ledger'
import type { Block, NewBlock, OrderedTransaction } from '@ratatosk/store'
import { Refusal } from '../refusal.js'
import { alignRoots } from './align-roots.js'
import { libraryOf } from './library.js'
import { elementOf, rootAfter } from './links.js'
import { line } from './note.js'
import type { Standing } from './reconcile.js'
import { sendBuilt } from './send-built.js'
import { planTurn, readOperators, type Times } from './turn.js'
import { PROTOCOL_VERSION, type Work } from './work.js'

export type Commitment =
  | { readonly kind: 'built'; readonly block: Block }
  | { readonly kind: 'nothing' }
  /** Time changes it; the refusal says why not now. */
  | { readonly kind: 'wait'; readonly why: Refusal }

/** Of transactions in one block, so that none asks for more memory than a node has. */
const maxBlockBytes = 64 * 1024 * 1024

/** There are no deposits and withdrawals yet: the root of an empty trie. */
const noEvents = new Uint8Array(32)

/**
 * Puts the oldest transactions of the mempool into a block, stores it with its commitment, and sends that, behind all that is on its
 * way. Until the block is stored, whatever fails leaves no trace.
 */
export async function commitBlock(work: Work, standing: Standing): Promise<Commitment> {
  const { local } = standing
  if (local.flying.length >= work.maxUnconfirmed) {
    const message = `${local.flying.length} blocks are on their way to layer 1: wait until it has included one`
    return { kind: 'wait', why: new Refusal('too-many-unconfirmed', message) }
  }
  const transactions = await work.store.blocks.oldest(work.maxBlockTransactions, maxBlockBytes)
  if (transactions.length === 0) return { kind: 'nothing' }
  const begun = performance.now()
  const tail = tailOf(work, standing)
  const registry = await readOperators(work)
  const times = await planTurn(work, registry, tail.endTime, standing.slot)
  if (times instanceof Refusal) return { kind: 'wait', why: times }

  await alignRoots(work, local.newest)
  const { block, built } = await undoneWhereItFails(work, () =>
    storeBlock(work, transactions, tail, registry, times),
  )
  if (await sendBuilt(work, 'commit', built, standing.slot)) {
    await work.store.blocks.setState([block.headerHash], 'submitted', work.lease)
    work.step('block-submitted')
  }
  const ms = Math.round(performance.now() - begun)
  work.log.info(...line(`committed: ${transactions.length} transactions, ${ms} ms`, block))
  return { kind: 'built', block }
}

/** What the block is appended to. */
interface Tail {
  readonly root: RootElement
  readonly block: BlockElement | undefined
  readonly hash: Uint8Array
  readonly utxosRoot: Uint8Array
  readonly endTime: bigint
}

/** The newest block, or the root where every block is merged or about to be. */
function tailOf({ contracts }: Work, { root: now, local, links }: Standing): Tail {
  const root = rootAfter(contracts, links, now)
  const { newest } = local
  const leaving = links.some(({ kind, block }) => kind === 'merge' && block.height === newest?.height)
  if (newest === undefined || newest.state === 'merged' || leaving) {
    const { headerHash: hash, utxoRoot: utxosRoot, endTime } = root.datum.state
    return { root, block: undefined, hash, utxosRoot, endTime }
  }
  const { headerHash: hash, utxosRoot, endTime } = newest
  return { root, block: elementOf(contracts, newest, undefined), hash, utxosRoot, endTime }
}

async function storeBlock(
  work: Work,
  transactions: readonly OrderedTransaction[],
  tail: Tail,
  registry: RegistryElement,
  { slot, endTime }: Times,
): Promise<{ readonly block: Block; readonly built: BuiltTransaction }> {
  const { store, operator, contracts, slots, signal } = work
  const roots = await work.roots.apply(transactions.map(({ cbor }) => cbor))
  work.step('roots-applied')
  const header: Header = {
    prevUtxosRoot: tail.utxosRoot,
    utxosRoot: roots.utxosRoot,
    transactionsRoot: roots.transactionsRoot,
    depositsRoot: noEvents,
    withdrawalsRoot: noEvents,
    startTime: tail.endTime,
    endTime,
    prevHeaderHash: tail.hash,
    operatorVkey: operator.keys.payment.hash,
    protocolVersion: PROTOCOL_VERSION,
  }
  const queue = { roots: [tail.root], blocks: tail.block ? [tail.block] : [], strays: [] }
  const library = await libraryOf(work)
  const draft = draftCommit(contracts, { queue, registry, header, slot, slots, library })
  const built = await operator.build(draft, { signal })
  const block: NewBlock = {
    headerHash: headerHash(header),
    header: encodeHeader(header),
    previousHeaderHash: tail.hash,
    utxosRoot: roots.utxosRoot,
    startTime: tail.endTime,
    endTime,
    firstSequence: transactions[0]?.sequence ?? 0n,
    lastSequence: transactions.at(-1)?.sequence ?? 0n,
    transactions: transactions.length,
    commitTransaction: { id: fromHex(built.id), cbor: built.bytes },
  }
  try {
    const stored = await store.blocks.build(block, work.lease)
    work.step('block-built')
    return { block: stored, built }
  } catch (error) {
    // Where it was stored all the same, it is found on its way, and adopted again.
    operator.release(built.id)
    throw error
  }
}

/** Brings the trie back to the newest block that the store has where a block could not be stored. */
async function undoneWhereItFails<T>(work: Work, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    // The next commitment aligns them anyway; where there is no block yet, genesis may have come after the last look.
    work.memory.genesisRoot = undefined
    await work.store.blocks
      .newest()
      .then((newest) => alignRoots(work, newest))
      .catch(() => undefined)
    throw error
  }
}
