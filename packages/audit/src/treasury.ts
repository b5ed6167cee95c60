import { equalBytes, toHex } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { createDebts } from './debts.js'
import { blockAt } from './findings.js'
import { valueOfOutput } from './grammar/output.js'
import { blake2b256 } from './header.js'
import type { AuditedLedger, Change } from './ledger.js'
import type { Sources } from './sources.js'
import type { AuditReport, BridgeReading, Finding, Unchecked } from './types.js'
import { ada, type OutputValue, Sum, textOf } from './value.js'

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
