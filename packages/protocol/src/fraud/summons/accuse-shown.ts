import { chunkKey, type PackedEntries } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import {
  childHash,
  divergence,
  emptyRoot,
  nibbleAt,
  nodeHash,
  type Proof,
  pathLength,
  stepAway,
  stepBeside,
  type TrieEntry,
  type TrieView,
} from '@ratatosk/trie'
import type { Contracts } from '../../contracts.js'
import {
  type Accusation,
  type AccusedBlock,
  deriveEntries,
  type EventMaps,
  type MapProofs,
  mapOf,
  pausing,
  postedEvents,
} from '../accused-block.js'
import { fraudsIn, type ProvenFraud } from '../find-fraud.js'
import type { LedgerFraudProof } from '../ledger-proofs.js'
import { numberIn, numberKey } from '../openings.js'
import { transactionRecordIn } from '../recorded.js'
import { listedScripts } from '../remove-fraudulent-block.js'
import {
  isBranchAnswer,
  type NodeAnswer,
  nodeOfKey,
  type ShownChunkAnswer,
  type ShownNode,
} from './redeemers.js'
import { absent, type Difference, entryQuestion, type NextQuestion, present } from './search.js'

/** The part of a posted map that answers show. Other parts throw an error. */
export interface ShownMap extends MapProofs {
  /** Takes an answer that the summons has accepted. */
  add(question: Pick<NextQuestion, 'kind' | 'key' | 'hash'>, answer: NodeAnswer): void
  /** Takes an opening that a search has found, or an answer about a chunk has shown. */
  know(opening: Difference): void
  /** Proofs of which some are empty, because a node is not shown: `missing` receives what asks for it. */
  incomplete(missing: (question: NextQuestion, proof: Proof) => void): MapProofs
  /** Keys and values that are shown, of a transactions map. */
  entries(): Iterable<readonly [key: Uint8Array, value: Uint8Array]>
  /** Paths that are shown to have no entry, although the true map has one. */
  absences(): Iterable<Uint8Array>
}

/** A proof needs an entry that is not shown: `question` asks for it. */
class NotShown extends Error {
  override readonly name = 'NotShown'

  constructor(readonly question: NextQuestion) {
    super('The answers do not show what a proof needs')
  }
}

/**
 * A posted map, of which nothing is shown yet.
 *
 * @param truth the map that follows from the transactions: a node of it is shown where its hash is posted
 */
export function createShownMap(root: Uint8Array, truth?: Pick<TrieView, 'nodeAt'>): ShownMap {
  /** By depth and hash. */
  const nodes = new Map<string, ShownNode>()
  /** By path. */
  const openings = new BytesMap<Difference>()
  const nameOf = (depth: number, hash: Uint8Array): string => `${depth} ${toHex(hash)}`

  function trueNode(path: Uint8Array, depth: number, hash: Uint8Array): ShownNode | undefined {
    const node = truth?.nodeAt(path, depth)
    return node !== undefined && equalBytes(nodeHash(node, depth), hash) ? node : undefined
  }

  function openPath(path: Uint8Array): { readonly hash?: Uint8Array; readonly proof: Proof } {
    const known = openings.get(path)
    if (known !== undefined) return known.posted
    const steps: Proof[number][] = []
    let [depth, hash] = [0, root]
    if (equalBytes(root, emptyRoot())) return { proof: steps }
    for (;;) {
      const node = nodes.get(nameOf(depth, hash)) ?? trueNode(path, depth, hash)
      if (node === undefined) throw new NotShown(entryQuestion(path, root))
      if (node.kind === 'leaf' && equalBytes(node.path, path)) return { hash: node.valueHash, proof: steps }
      if (node.kind === 'leaf' || divergence(path, node.path, depth) < node.fork)
        return { proof: [...steps, stepAway(node, depth, path)] }
      const nibble = nibbleAt(path, node.fork)
      steps.push(stepBeside(node, depth, nibble))
      const below = childHash(node, nibble)
      if (below === undefined) return { proof: steps }
      depth = node.fork + 1
      hash = below
    }
  }

  return {
    openPath,
    prove: (key) => openPath(blake2b256(key)).proof,
    proveAbsence: (key) => openPath(blake2b256(key)).proof,

    incomplete(missing) {
      const openShown: MapProofs['openPath'] = (path) => {
        try {
          return openPath(path)
        } catch (error) {
          if (!(error instanceof NotShown)) throw error
          const proof: Proof = []
          missing(error.question, proof)
          return { proof }
        }
      }
      const prove = (key: Uint8Array) => openShown(blake2b256(key)).proof
      return { openPath: openShown, prove, proveAbsence: prove }
    },

    add({ kind, key, hash }, answer) {
      const { path, depth } = nodeOfKey(key)
      if ('absent' in answer) {
        openings.set(path, absent({ path }, answer.absent))
        return
      }
      if (!isBranchAnswer(answer)) {
        const { node, steps } = answer
        if (steps.length === 0) nodes.set(nameOf(depth, hash), node)
        // Another leaf below the node is one that a search turns into a difference.
        else if (kind === 'entry') openings.set(path, present(node, steps))
        return
      }
      const { node, children } = answer
      nodes.set(nameOf(depth, hash), node)
      for (const [nibble, child] of children.entries()) {
        const below = childHash(node, nibble)
        if (child !== undefined && below !== undefined) nodes.set(nameOf(node.fork + 1, below), child)
      }
    },

    know(opening) {
      openings.set(opening.path, opening)
    },

    *entries() {
      for (const { entry } of openings.values()) if (entry !== undefined) yield entry
      for (const node of nodes.values())
        if (node.kind === 'leaf' && node.entry !== undefined) yield node.entry
    },

    *absences() {
      for (const { path, posted } of openings.values())
        if (posted.hash === undefined && truth?.nodeAt(path, pathLength) !== undefined) yield path
    },
  }
}

/** The maps that follow from transactions and deposits. */
export interface DerivedMap {
  /** The transactions map. */
  readonly trie: TrieView
  /** Its entries. */
  readonly packed: PackedEntries
  readonly events: Required<EventMaps>
}

/** Derives the maps of a block without regard to its header. Other work runs meanwhile. */
export async function deriveMap(
  block: Pick<Accusation, 'transactions' | 'deposits' | 'before' | 'bridge'>,
): Promise<DerivedMap> {
  const { packed, events } = await deriveEntries(block)
  return { ...(await mapOf(packed)), events }
}

/**
 * A block whose transactions map does not follow from its transactions, as far as answers show it: elsewhere
 * its map is taken to follow. A search for a fraud throws `NotShown` for what a proof needs besides.
 *
 * @param shown takes the openings of the chunks too
 * @param answers about chunks, by their numbers
 */
export async function accuseShown(
  block: Omit<Accusation, 'entries'>,
  derived: DerivedMap,
  shown: ShownMap,
  answers: ReadonlyMap<number, ShownChunkAnswer>,
): Promise<AccusedBlock> {
  const { packed } = derived
  /** The entries that differ from those that follow, by key; undefined for the key that the map lacks. */
  const others = new BytesMap<TrieEntry | undefined>()
  const absent = new BytesSet([...shown.absences()])
  if (absent.size > 0)
    for await (const [key] of pausing(packed.all()))
      if (absent.has(blake2b256(key))) others.set(key, undefined)
  for (const entry of shown.entries()) others.set(entry[0], entry)
  const chunks: Uint8Array[] = []
  for (const [number, chunk] of answers) {
    if (chunk.kind === 'unreadable') continue
    const { kind, proof } = chunk
    const key = chunkKey(number)
    const posted = kind === 'shown' ? { hash: blake2b256(chunk.record), proof } : { proof }
    shown.know({ path: blake2b256(key), posted })
    others.set(key, kind === 'shown' ? [key, chunk.record] : undefined)
    if (kind === 'shown') chunks.push(chunk.bytes)
  }
  return {
    ...block,
    events: postedEvents(derived.events, block.header),
    map: shown,
    valueOf: (key) => (others.has(key) ? others.get(key)?.[1] : packed.valueOf(key)),
    *entriesOfMap() {
      for (const entry of packed.all()) if (!others.has(entry[0])) yield entry
      for (const entry of others.values()) if (entry !== undefined) yield entry
    },
    chunks,
  }
}

/** The frauds of a block that the answers prove; questions, if they prove none. */
export interface ShownFrauds {
  readonly proven: readonly ProvenFraud[]
  readonly questions: readonly NextQuestion[]
}

/** Frauds that are compared for the fewest questions, and frauds that are proven. */
const [mostCompared, mostProven] = [4096, 16]

/**
 * Searches a block for frauds that answers and a verdict policy of the contracts prove. Without one, the
 * questions are those of the fraud that lacks the fewest, and of transactions in between if fees are wrong. A
 * fraud may rest on entries that are taken to follow, and be gone once these are shown.
 */
export async function shownFrauds(
  block: AccusedBlock,
  { packed }: Pick<DerivedMap, 'packed'>,
  shown: ShownMap,
  contracts: Pick<Contracts, 'parameters'>,
  rules: ProvableRules,
): Promise<ShownFrauds> {
  const scriptOf = listedScripts(contracts, rules)
  const lacking = new Map<unknown, NextQuestion>()
  const map = shown.incomplete((question, proof) => lacking.set(proof, question))
  const proven: ProvenFraud[] = []
  let fewest: ReadonlySet<NextQuestion> | undefined
  let compared = 0
  for await (const found of pausing(fraudsIn({ ...block, map }, rules))) {
    for (const fraud of found) {
      if (scriptOf(fraud.policy) === undefined) continue
      const questions = new Set(questionsIn(fraud.proof, lacking))
      if (questions.size === 0) proven.push(fraud)
      else if (fewest === undefined || questions.size < fewest.size) fewest = questions
    }
    compared += found.length
    if (proven.length > 0 || compared >= mostCompared) break
  }
  if (proven.length > 0) return { proven: proven.slice(0, mostProven), questions: [] }
  const questions = new BytesMap<NextQuestion>()
  for (const question of [...(fewest ?? []), ...(await questionsAboutFees(packed, shown))])
    questions.set(question.key, question)
  return { proven, questions: [...questions.values()] }
}

/** The questions about what proofs lack, anywhere in a value. */
function* questionsIn(
  value: unknown,
  lacking: ReadonlyMap<unknown, NextQuestion>,
): Generator<NextQuestion, void> {
  const question = lacking.get(value)
  if (question !== undefined) yield question
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  for (const part of Object.values(value)) yield* questionsIn(part, lacking)
}

/** Transactions that are asked for at once to find where fees begin to be wrong. */
const spread = 18

/**
 * Asks for transactions before the first whose fees so far are shown to be wrong. If all behind some place
 * are as wrong, the record of each seems wrong beside a neighbour only until that is shown; so the place is
 * searched in steps.
 */
async function questionsAboutFees(packed: PackedEntries, shown: ShownMap): Promise<NextQuestion[]> {
  let first = Number.POSITIVE_INFINITY
  for (const [key, value] of shown.entries()) {
    const [record, truth] = [value, packed.valueOf(key)].map((each) => each && transactionRecordIn(each))
    if (key.length === 8 && record && truth && record.feesSoFar !== truth.feesSoFar)
      first = Math.min(first, Number(numberIn(key)))
  }
  if (first === Number.POSITIVE_INFINITY) return []
  const lackingAt = (position: number): NextQuestion | undefined => {
    let question: NextQuestion | undefined
    const map = shown.incomplete((each) => {
      question = each
    })
    map.openPath(blake2b256(numberKey(BigInt(position))))
    return question
  }
  let known = -1
  for await (const position of pausing(downFrom(first - 1))) {
    if (lackingAt(position) !== undefined) continue
    known = position
    break
  }
  const places = Array.from({ length: spread }, (_, place) =>
    Math.floor(known + ((first - known) * (place + 1)) / (spread + 1)),
  )
  const between = new Set(places.filter((place) => place > known && place < first))
  return [...between].flatMap((place) => lackingAt(place) ?? [])
}

function* downFrom(position: number): Generator<number, void> {
  for (let each = position; each >= 0; each--) yield each
}

/** About 10 ms of hashing. */
const entriesBetweenPauses = 4096

/**
 * The proof that the outputs after a block do not follow, from a difference between them and the true ones.
 *
 * @param pause awaited at intervals: the key of an entry of the transactions map is found by its hash
 */
export async function claimOutput(
  block: Pick<AccusedBlock, 'map' | 'before' | 'entriesOfMap'>,
  { path, posted }: Difference,
  pause: () => Promise<void>,
): Promise<LedgerFraudProof> {
  const { hash, proof } = block.map.openPath(path)
  const record = hash && (await valueAt(block, path, pause))
  return {
    fraud: 'wrongOutputsAfter',
    path,
    output: { ...(record && { record }), proof },
    ...(hash === undefined && { before: block.before.openPath(path) }),
    after: posted,
  }
}

async function valueAt(
  block: Pick<AccusedBlock, 'entriesOfMap'>,
  path: Uint8Array,
  pause: () => Promise<void>,
): Promise<Uint8Array> {
  let read = 0
  for (const [key, value] of block.entriesOfMap()) {
    if (++read % entriesBetweenPauses === 0) await pause()
    if (equalBytes(blake2b256(key), path)) return value
  }
  throw new RangeError('The transactions map has an entry whose key is not known')
}
