import { chunkKey, type PackedEntries } from '@ratatosk/block'
import { BytesMap, BytesSet } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import type { Contracts } from '@ratatosk/protocol'
import type { TrieEntry, TrieView } from '@ratatosk/trie'
import {
  type Accusation,
  type AccusedBlock,
  deriveEntries,
  type EventMaps,
  mapOf,
  pausing,
  postedEvents,
} from '../accused-block.js'
import { fraudsIn, type ProvenFraud } from '../find-fraud.js'
import { numberIn, numberKey } from '../openings.js'
import { transactionRecordIn } from '../recorded.js'
import { listedScripts } from '../remove-fraudulent-block.js'
import type { ShownChunkAnswer } from './chunk-answer.js'
import type { NextQuestion } from './search.js'
import type { ShownMap } from './shown-map.js'

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
