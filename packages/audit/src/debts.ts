import { equalBytes, toHex } from '@ratatosk/cbor'
import { createMemoryStore, createTrie, rootOf } from '@ratatosk/trie'
import { transactionsOfBody } from './body.js'
import type { AuditedChain } from './chain.js'
import { isAtScript, valueOfOutput } from './grammar/output.js'
import { blake2b256 } from './header.js'
import type { Sources } from './sources.js'
import { headerOf } from './trace.js'
import { maxOutputIndex, outref, readTransaction } from './transaction.js'
import type { Finding, OpenSettlement, Unchecked } from './types.js'
import { Sum } from './value.js'

interface DebtsContext {
  readonly chain: AuditedChain
  readonly sources: Pick<Sources, 'header' | 'body'>
  /** Hash of the bridge's script. */
  readonly bridge: Uint8Array
  readonly pause: () => Promise<void>
}

/** The debts of settlements, and what is wrong or not known about them. */
interface Debts {
  readonly owed: Sum
  readonly findings: readonly Finding[]
  readonly unchecked: readonly Unchecked[]
}

/** An output that left through the bridge. */
interface Withdrawal {
  /** CBOR of its reference. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** Settlements whose withdrawals are kept between readings. */
const keptMaps = 32
/** Of as many withdrawals, any may be paid first. Of more, those whose references have the lowest hashes. */
const mostInAnyOrder = 12

/** Derives from the bodies of an archive what settlements owe still. */
export function createDebts({ chain, sources, bridge, pause }: DebtsContext) {
  const maps = new Map<string, readonly Withdrawal[]>()

  /** All that left by a block; undefined if the archive does not show it. */
  async function allOf(headerHash: Uint8Array): Promise<readonly Withdrawal[] | undefined> {
    const name = toHex(headerHash)
    const known = maps.get(name)
    if (known !== undefined) return known
    const [header, body] = [await headerOf(headerHash, sources), await sources.body(headerHash)]
    if (header === undefined || body === undefined) return undefined
    const all = await withdrawalsOf(body, bridge, pause)
    if (!equalBytes(await rootOf(entriesOf(all), pause), header.withdrawalsRoot)) return undefined
    if (maps.size < keptMaps) maps.set(name, all)
    return all
  }

  /** @param merged the height of the newest merged block */
  return async (settlements: readonly OpenSettlement[], merged: number): Promise<Debts> => {
    const owed = new Sum()
    const findings: Finding[] = []
    const unchecked: Unchecked[] = []
    for (const { headerHash, root } of settlements) {
      const height = chain.heightOf(headerHash)
      if (height === undefined || height === 0 || height > merged) {
        const message = 'The bridge has a settlement of a block that is not merged'
        findings.push({ kind: 'treasury', message, expected: 'none', found: toHex(headerHash) })
        continue
      }
      const all = await allOf(headerHash)
      const left = all && (await leftAt(all, root, pause))
      for (const { output } of left ?? []) owed.add(valueOfOutput(output))
      if (left !== undefined) continue
      const what = `The treasury: what the settlement of block ${height} owes`
      const why = all
        ? 'no part of its withdrawals that was tried has its root'
        : 'the archive lacks its body'
      unchecked.push({ what, why })
    }
    return { owed, findings, unchecked }
  }
}

const entriesOf = (all: readonly Withdrawal[]) => all.map(({ outref: key, output }) => [key, output] as const)

/** The outputs that leave by a body, in the order in which nodes pay: ascending by hash of the reference. */
async function withdrawalsOf(
  body: Uint8Array,
  bridge: Uint8Array,
  pause: () => Promise<void>,
): Promise<readonly Withdrawal[]> {
  const found: (Withdrawal & { readonly path: string })[] = []
  for (const cbor of transactionsOfBody(body)) {
    await pause()
    const { id, outputs } = readTransaction(cbor)
    for (const [index, output] of outputs.slice(0, maxOutputIndex + 1).entries()) {
      if (!isAtScript(output, bridge)) continue
      const { cbor: reference } = outref(id, index)
      found.push({ outref: reference, output: output.slice(), path: toHex(blake2b256(reference)) })
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** The part of withdrawals whose map has a root; undefined if none that is tried has. */
async function leftAt(
  all: readonly Withdrawal[],
  root: Uint8Array,
  pause: () => Promise<void>,
): Promise<readonly Withdrawal[] | undefined> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(all.map(({ outref: key, output: value }) => ({ type: 'insert', key, value })))
  for (const [paid, { outref: key }] of all.entries()) {
    await pause()
    if (equalBytes(trie.root, root)) return all.slice(paid)
    trie.update([{ type: 'delete', key }])
  }
  if (all.length > mostInAnyOrder) return undefined
  for (let mask = 1; mask < 2 ** all.length; mask++) {
    const left = all.filter((_, place) => (mask & (1 << place)) !== 0)
    if (equalBytes(await rootOf(entriesOf(left), pause), root)) return left
  }
  return undefined
}
