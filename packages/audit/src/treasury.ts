import { equalBytes, toHex } from '@ratatosk/cbor'
import { createMemoryStore, createTrie, rootOf } from '@ratatosk/trie'
import { transactionsOfBody } from './body.js'
import type { AuditedChain } from './chain.js'
import { blockAt } from './findings.js'
import { ada, isAtScript, type OutputValue, Sum, textOf, valueOfOutput } from './grammar/output.js'
import { blake2b256 } from './header.js'
import type { AuditedLedger, Change } from './ledger.js'
import type { Sources } from './sources.js'
import { headerOf } from './trace.js'
import { maxOutputIndex, outref, readTransaction } from './transaction.js'
import type { AuditReport, BridgeReading, Finding, OpenSettlement, Unchecked } from './types.js'

/** The result of comparing the treasury at one reading. */
export interface TreasuryOutcome {
  readonly findings: readonly Finding[]
  readonly unchecked: readonly Unchecked[]
  /** Absent if it was not compared. */
  readonly treasury?: NonNullable<AuditReport['treasury']>
}

interface TreasuryContext {
  readonly ledger: AuditedLedger
  readonly chain: AuditedChain
  readonly sources: Pick<Sources, 'header' | 'body'>
  /** Hash of the bridge's script. */
  readonly bridge: Uint8Array
  /** Lovelace of the genesis that reserves back. */
  readonly backed: bigint
  readonly pause: () => Promise<void>
}

/** A state of layer 2, and the sums by then. */
interface Moment {
  /** For people. */
  readonly when: string
  readonly held: Sum
  readonly claims: Sum
}

const unread = (why: string): Unchecked => ({ what: 'The treasury', why })

/** Compares the bridge on layer 1 with what layer 2 has a claim on. */
export function createTreasury({ ledger, chain, sources, bridge, backed, pause }: TreasuryContext) {
  const debts = createDebts({ chain, sources, bridge, pause })

  /** Reserves, and the deposits that are credited up to a height. */
  function heldAt(height: number, { reserves, deposits }: BridgeReading): Sum {
    const held = new Sum().add(reserves)
    for (const { id, value } of deposits) {
      const block = chain.blockOf(id)
      if (block > 0 && block <= height) held.add(value)
    }
    return held
  }

  /** @param unspent on layer 2 @param owed by layer 1 @param fees that no one was paid: they stay there */
  const claimsOf = (unspent: OutputValue, owed: OutputValue, fees: bigint): Sum =>
    new Sum()
      .add(unspent)
      .add(owed)
      .add(ada(fees + backed))
      .add(ledger.genesisValue, -1n)

  function compareDeposits({ deposits }: BridgeReading): readonly Finding[] {
    return deposits.flatMap(({ id, output, value }): Finding | [] => {
      const [wanted, credited] = [blake2b256(output), ledger.creditOf(id)]
      if (credited === undefined || equalBytes(credited, wanted)) return []
      const height = chain.blockOf(id)
      return {
        kind: 'treasury',
        message: `Deposit ${toHex(id)} is credited with another output than it has on layer 1`,
        expected: `${textOf(value)}, in the output with the hash ${toHex(wanted)}`,
        found: `the output with the hash ${toHex(credited)}`,
        block: blockAt(height, chain.hashAt(height) ?? new Uint8Array(28)),
      }
    })
  }

  /** @param merged height of the newest merged block @param height that of the newest one of layer 1 */
  return async (reading: BridgeReading, merged: number, height: number): Promise<TreasuryOutcome> => {
    if (chain.height !== height || chain.end !== undefined || !chain.agrees)
      return { findings: [], unchecked: [unread('layer 2 could not be derived up to the newest block')] }
    const { owed, findings: foreign, unchecked } = await debts(reading.settlements, merged)
    const findings = [...foreign, ...compareDeposits(reading)]
    if (unchecked.length > 0) return { findings, unchecked }
    const newer = chain.changesAfter(merged)
    if (newer === undefined)
      return { findings, unchecked: [unread('more blocks wait for their merge than the audit can undo')] }
    const before = undone(newer, ledger)
    const later = newer.reduce((sum, { withdrawn }) => sum.add(withdrawn), new Sum().add(owed))
    const confirmed: Moment = {
      when: 'at the confirmed state',
      held: heldAt(merged, reading),
      claims: claimsOf(before.unspent, owed, before.kept),
    }
    const newest: Moment = {
      when: 'at the newest block',
      held: heldAt(height, reading),
      claims: claimsOf(ledger.unspent, later, ledger.fees - ledger.paid),
    }
    const waiting = reading.deposits.filter(({ id }) => chain.blockOf(id) === 0)
    return {
      findings: [...findings, ...[confirmed, newest].flatMap((moment) => compareSums(moment, reading))],
      unchecked: [],
      treasury: {
        held: newest.held.lovelace,
        claims: newest.claims.lovelace,
        owed: later.lovelace,
        waiting: waiting.reduce((sum, { value }) => sum + value.lovelace, 0n),
        waitingDeposits: waiting.length,
      },
    }
  }
}

/** Anyone can give to the treasury: only too little is a fault. */
function compareSums({ when, held, claims }: Moment, { bridged }: BridgeReading): readonly Finding[] {
  const policies = new Set(bridged)
  const bridgedOf = ({ lovelace, assets }: OutputValue): OutputValue => ({
    lovelace,
    assets: new Map([...assets].filter(([unit]) => policies.has(unit.slice(0, policyDigits)))),
  })
  const [has, needed] = [bridgedOf(held), bridgedOf(claims)]
  const isEnough =
    has.lovelace >= needed.lovelace &&
    [...needed.assets].every(([unit, quantity]) => (has.assets.get(unit) ?? 0n) >= quantity)
  if (isEnough) return []
  return [
    {
      kind: 'treasury',
      message: `The treasury holds less than layer 2 has a claim on ${when}`,
      expected: `at least ${textOf(needed)}`,
      found: textOf(has),
    },
  ]
}

const policyDigits = 56

/** The unspent outputs, and the fees that no one was paid, before some blocks, the newest ones. */
function undone(newer: readonly Change[], { unspent: after, fees: all, paid: part }: AuditedLedger) {
  const unspent = new Sum().add(after)
  let kept = all - part
  for (const { removed, added, fees, paid } of newer) {
    kept -= fees - paid.lovelace
    for (const [, { output }] of added) unspent.add(valueOfOutput(output), -1n)
    for (const [, { output }] of removed) unspent.add(valueOfOutput(output))
  }
  return { unspent, kept }
}

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
function createDebts({ chain, sources, bridge, pause }: DebtsContext) {
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
