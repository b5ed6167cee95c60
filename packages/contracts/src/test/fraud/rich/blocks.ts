import { type BlockRules, isBlockError, judgeBlock } from '@ratatosk/block'
import { CborWriter, toHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  decodeTransactionOutput,
  minimumFee,
  type OutputReference,
  outputReferenceKey,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { blockOf, type Entries, hexOf, noteOutputs, type TestBlock } from '../blocks.js'
import { drawing, some } from '../draw.js'
import { looseEncoder } from '../loose-bodies.js'
import { firstSlot, lastSlot, rules } from '../transaction/transactions.js'
import type { Plutus } from '../witness/witnessed.js'
import { encode, encodeOutput, type Plan } from './encoding.js'
import {
  anyOf,
  drawOutput,
  drawTokens,
  type Held,
  names,
  type OutputPlan,
  openWorld,
  type Tokens,
  type World,
} from './outputs.js'
import { hashOfLock, isNative, isPlutus, type Lock, type Native, plutusScripts, signers } from './scripts.js'

/*
 * Blocks whose transactions keep every rule by which nodes judge, and use what layer 2 has: outputs of keys
 * and of scripts of every language, datums of every kind, reference scripts, tokens that are minted and
 * burned, withdrawals, collateral, metadata, required signers, validity intervals, and all encodings that the
 * profile allows.
 */

const sum = (into: Map<string, bigint>, tokens: Tokens, sign: bigint) => {
  for (const [unit, quantity] of tokens) into.set(unit, (into.get(unit) ?? 0n) + sign * quantity)
}

/** A transaction that spends, reads and mints at random. */
function drawTransaction(
  world: World,
  unspent: readonly Held[],
): { plan: Plan; change: OutputPlan } | undefined {
  const { draw, natives, policies } = world
  const withV1 = draw(4) === 0
  const isOfV1 = (lock: Lock) => isPlutus(lock) && lock.language === 'PlutusV1'
  const mayRun = (script: Lock) => withV1 || !isOfV1(script)
  const isPlain = ({ plan }: Held) => !plan.datum?.inline && !plan.reference
  const spendable = unspent.filter((held) => mayRun(held.plan.lock) && (!withV1 || isPlain(held)))
  const inputs = some(spendable, 1 + draw(5), draw)
  if (inputs.length === 0) return undefined
  const others = unspent.filter((held) => !inputs.includes(held))
  const referenceInputs = withV1 ? [] : some(others, draw(4), draw)
  const mint = new Map<string, bigint>()
  const runnable = [...policies.values()].filter(mayRun)
  for (let count = draw(4); count > 0; count--)
    mint.set(toHex(hashOfLock(anyOf(runnable, draw))) + anyOf(names, draw), BigInt(1 + draw(2 ** 20)))
  for (const [unit, quantity] of inputs.flatMap(({ plan }) => [...plan.tokens])) {
    const policy = policies.get(unit.slice(0, 56))
    if (policy && mayRun(policy) && !mint.has(unit) && draw(3) === 0)
      mint.set(unit, draw(2) === 0 ? -quantity : -1n)
  }
  const accounts = draw(2) === 0 ? [] : some([...natives, ...plutusScripts].filter(mayRun), 1 + draw(2), draw)
  const withdrawals = [...new Map(accounts.map((script) => [toHex(hashOfLock(script)), script])).values()]
  const locks = inputs.map(({ plan }) => plan.lock)
  const needed = [
    ...locks.filter((lock) => 'language' in lock),
    ...[...mint.keys()].map((unit) => policies.get(unit.slice(0, 56))!),
    ...withdrawals,
  ] as (Plutus | Native)[]
  const unique = [...new Map(needed.map((script) => [toHex(hashOfLock(script)), script])).values()]
  const shown = new Set(
    [...inputs, ...referenceInputs].flatMap(({ plan }) =>
      plan.reference ? [toHex(hashOfLock(plan.reference))] : [],
    ),
  )
  const running = unique.filter(isPlutus)
  const ordered = (all: readonly string[], own: string) => all.toSorted().indexOf(own)
  const inputKeys = inputs.map(({ reference }) => hexOf(reference))
  const minted = [...new Set([...mint.keys()].map((unit) => unit.slice(0, 56)))]
  const withdrawn = withdrawals.map((script) => toHex(hashOfLock(script)))
  const redeemers = [
    ...inputs
      .filter(({ plan }) => isPlutus(plan.lock))
      .map(({ reference }) => [0, ordered(inputKeys, hexOf(reference))] as const),
    ...minted.filter((id) => isPlutus(policies.get(id)!)).map((id) => [1, ordered(minted, id)] as const),
    ...withdrawals
      .filter(isPlutus)
      .map((script) => [3, ordered(withdrawn, toHex(hashOfLock(script)))] as const),
  ]
  const paying = unspent.filter(({ plan }) => !('language' in plan.lock) && plan.lovelace > 20_000_000n)
  const collateral = redeemers.length > 0 || draw(6) === 0 ? some(paying, 1 + draw(2), draw) : []
  if (redeemers.length > 0 && collateral.length === 0) return undefined

  const held = inputs.reduce((total, { plan }) => total + plan.lovelace, 0n)
  const left = new Map<string, bigint>()
  for (const { plan } of inputs) sum(left, plan.tokens, 1n)
  sum(left, mint, 1n)
  const rest = [...left].filter(([, quantity]) => quantity > 0n)
  const small: OutputPlan[] = []
  for (let count = held > 60_000_000n ? draw(5) : 0; count > 0; count--) {
    const own = new Map(rest.splice(0, draw(3)))
    small.push(drawOutput(world, 6_000_000n + BigInt(draw(2 ** 20)), own, withV1))
  }
  const change = drawOutput(
    world,
    held - small.reduce((total, { lovelace }) => total + lovelace, 0n),
    new Map(rest),
    withV1,
  )
  const datums = new Map<string, Uint8Array>()
  for (const { plan } of inputs)
    if (isPlutus(plan.lock) && plan.datum && !plan.datum.inline)
      datums.set(toHex(plan.datum.bytes), plan.datum.bytes)
  // Datums of outputs may be shown as well.
  for (const { datum } of [...small, change])
    if (datum && !datum.inline && draw(3) === 0) datums.set(toHex(datum.bytes), datum.bytes)
  const required = signers.filter(() => draw(8) === 0)
  const keys = new Set([...required, ...unique.filter(isNative).map(({ key }) => key)])
  for (const lock of [...locks, ...collateral.map(({ plan }) => plan.lock)])
    if (!('language' in lock)) keys.add(lock)
  for (const key of signers) if (draw(10) === 0) keys.add(key)
  if (draw(12) === 0) for (const key of signers) keys.add(key)
  const { uint, bytes, array, map, tag } = looseEncoder(draw, false)
  const entries = map([
    [uint(674), bytes(new Uint8Array(draw(64)))],
    [uint(1), array([uint(draw(2 ** 30)), new CborWriter().text('metadata').toBytes()])],
  ])
  const metadata = [
    undefined,
    undefined,
    entries,
    array([entries, array([])]),
    tag(259, map([[uint(0), entries]])),
  ]
  // The first and the last slot of the block are among them.
  const validFrom = lastSlot - BigInt(draw(3) === 0 ? 0 : draw(40))
  const least = validFrom < firstSlot ? firstSlot : validFrom
  const validTo = least + 1n + BigInt(draw(3) === 0 ? 0 : draw(40))
  const shownMetadata = metadata[draw(metadata.length)]
  const guard = collateral.length > 0 ? collateralOf(world, collateral) : undefined
  return {
    change,
    plan: {
      inputs: inputs.toSorted(() => draw(3) - 1),
      referenceInputs,
      outputs: small,
      fee: 0n,
      mint,
      withdrawals,
      required,
      ...(guard && { collateral: guard }),
      ...(draw(2) === 0 && { validFrom }),
      ...(draw(2) === 0 && { validTo }),
      namesNetwork: draw(2) === 0,
      ...(shownMetadata && { metadata: shownMetadata }),
      keys: [...keys],
      scripts: unique.filter((script) => !shown.has(toHex(hashOfLock(script)))),
      datums: [...datums.values()],
      redeemers,
      languages: [...new Set(running.map(({ language }) => language))],
    },
  }
}

/** Collateral of 5 ada, or all of it if there are no tokens to return. */
function collateralOf({ draw }: World, inputs: readonly Held[]): NonNullable<Plan['collateral']> {
  const tokens = new Map<string, bigint>()
  for (const { plan } of inputs) sum(tokens, plan.tokens, 1n)
  const balance = inputs.reduce((total, { plan }) => total + plan.lovelace, 0n)
  const isReturned = tokens.size > 0 || draw(2) === 0
  const total = isReturned ? 5_000_000n : balance
  return {
    inputs,
    ...(isReturned && { returned: { lock: anyOf(signers, draw), lovelace: balance - total, tokens } }),
    ...(draw(2) === 0 && { total }),
  }
}

/** A block of random transactions that `judgeBlock` accepts, all scripts run. */
export interface RichBlock {
  readonly block: TestBlock
  /** The predicates by which it refused a drawn transaction; the block has those before. */
  readonly refused: readonly string[]
}

export async function richBlockOf(seed: number, evaluator: BlockRules['evaluator']): Promise<RichBlock> {
  const draw = drawing(seed)
  const world = openWorld(draw)
  const before: Entries = new Map()
  const view = new Map<string, TransactionOutput>()
  let unspent: Held[] = []
  const hold = (reference: OutputReference, plan: OutputPlan) => unspent.push({ reference, plan })
  for (let index = 0; index < 16; index++) {
    const reference = { transactionId: new Uint8Array(32).fill(1 + draw(200)), index: 17 * index }
    const plan = drawOutput(
      world,
      30_000_000n + BigInt(draw(2 ** 30)) * (draw(4) === 0 ? 8n : 1n),
      drawTokens(world),
      draw(2) === 0,
    )
    const bytes = encodeOutput(looseEncoder(draw, false), draw, plan)
    before.set(hexOf(reference), bytes)
    view.set(outputReferenceKey(reference), decodeTransactionOutput(bytes))
    hold(reference, plan)
  }
  const transactions: Uint8Array[] = []
  const judging: BlockRules = { ...rules, ...(evaluator && { evaluator }) }
  const { header } = blockOf([], before)
  for (let count = 1 + draw(5); count > 0; count--) {
    const drawn = drawTransaction(world, unspent)
    const made = drawn && settle(drawn, world, draw(2 ** 31))
    if (drawn === undefined || made === undefined) continue
    const { cbor, id, outputs, plans } = made
    transactions.push(cbor)
    noteOutputs(id, outputs)
    unspent = unspent.filter((held) => !drawn.plan.inputs.includes(held))
    for (const [index, plan] of plans.entries()) hold({ transactionId: id, index }, plan)
  }
  try {
    await judgeBlock(transactions, header, view, judging)
    return { block: blockOf(transactions, before), refused: [] }
  } catch (error) {
    if (!isBlockError(error)) throw error
    const refused = (error.failures ?? []).map(({ predicate }) => predicate)
    // Those before it are honest.
    const honest = transactions.slice(0, error.position ?? 0)
    await judgeBlock(honest, header, view, judging)
    return { block: blockOf(honest, before), refused }
  }
}

/** Gives a transaction its fee: the least, or a little more. */
function settle({ plan, change }: { plan: Plan; change: OutputPlan }, { draw }: World, seed: number) {
  const scripts = [...plan.inputs, ...plan.referenceInputs].reduce(
    (total, { plan }) => total + (plan.reference?.bytes.length ?? 0),
    0,
  )
  const extra = BigInt(draw(2) * draw(1000))
  let fee = 400_000n
  for (let tries = 0; tries < 8; tries++) {
    const plans = [...plan.outputs, { ...change, lovelace: change.lovelace - fee }]
    const made = encode({ ...plan, fee, outputs: plans }, drawing(seed))
    const least = minimumFee(decodeTransaction(made.cbor), rules.parameters, scripts)
    if (fee === least + extra) return { ...made, plans }
    fee = least + extra
  }
  return undefined
}
