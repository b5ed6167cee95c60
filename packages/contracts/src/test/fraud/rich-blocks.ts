import { type BlockRules, type Deposit, isBlockError, judgeBlock } from '@ratatosk/block'
import { CborWriter, concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  encodeOutputReference,
  minimumFee,
  type OutputReference,
  outputReferenceKey,
  scriptIntegrityHash,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { type TestKey, testKey } from '../transaction.js'
import { blockOf, bridge, type Entries, feesTo, hexOf, noteOutputs, type TestBlock } from './blocks.js'
import { type Draw, drawing, some } from './draw.js'
import { looseEncoder } from './loose-bodies.js'
import { firstSlot, lastSlot, rules } from './transaction/transactions.js'
import { anyScript } from './witness/honest-blocks.js'
import { hashOf, hashOfNative, native, type Plutus } from './witness/story.js'

export const signers: readonly TestKey[] = Array.from({ length: 14 }, (_, index) => testKey(`rich ${index}`))

const languages = ['PlutusV1', 'PlutusV2', 'PlutusV3'] as const

/** Bits of a program that always succeeds, and holds a number so that scripts differ. */
function succeeding(language: Plutus['language'], number: number): Plutus {
  const lambda = '0010'
  const numeral = `0100100000${(2 * number).toString(2).padStart(8, '0')}`
  const unit = '0100100110'
  // Plutus V1 and V2 pass two or three arguments, and accept any result.
  const body =
    language === 'PlutusV3' ? `${lambda}0011${lambda}${unit}${numeral}` : `${lambda.repeat(3)}${numeral}`
  const bits = `${'00000001'}${'00000000'.repeat(2)}${body}`
  const padded = `${bits}${'1'.padStart(8 - (bits.length % 8), '0')}`
  const flat = Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
  return { language, bytes: new CborWriter().bytes(flat).toBytes() }
}

const plutusScripts = languages.flatMap((language) => [1, 2, 3].map((number) => succeeding(language, number)))

/** A native script that is satisfied if its key signs. */
interface Native {
  readonly language: 'native'
  readonly bytes: Uint8Array
  readonly key: TestKey
}

type Lock = Plutus | Native | TestKey

const hashOfLock = (lock: Lock): Uint8Array => {
  if (!('language' in lock)) return lock.hash
  return lock.language === 'native' ? hashOfNative(lock.bytes) : hashOf(lock)
}

const isPlutus = (lock: Lock): lock is Plutus => 'language' in lock && lock.language !== 'native'

const isNative = (lock: Lock): lock is Native => 'language' in lock && lock.language === 'native'

/** Quantities by policy and name, in hex and joined. */
type Tokens = ReadonlyMap<string, bigint>

interface OutputPlan {
  readonly lock: Lock
  readonly lovelace: bigint
  readonly tokens: Tokens
  readonly datum?: { readonly bytes: Uint8Array; readonly inline: boolean }
  readonly reference?: Plutus | Native
  /** It is paid to the bridge, and not to the lock. */
  readonly leaves?: boolean
}

interface Held {
  readonly reference: OutputReference
  readonly plan: OutputPlan
}

const names = ['', '676f6c64', '00'.repeat(32), 'ff'.repeat(24)]

/** The sources from which a block draws its transactions. */
interface World {
  readonly draw: Draw
  readonly natives: readonly Native[]
  /** By policy id in hex. */
  readonly policies: ReadonlyMap<string, Plutus | Native>
}

function openWorld(draw: Draw): World {
  const natives = Array.from({ length: 5 }, (): Native => {
    const key = signers[draw(signers.length)]!
    const own = native.signature(key.hash)
    const other = anyScript(draw, 2, signers)
    const shapes = [
      own,
      native.any(other, own),
      native.all(own, native.any(native.all(), other)),
      native.atLeast(1, other, own, anyScript(draw, 1, signers)),
      native.all(native.atLeast(-1 - draw(9), other), own),
    ]
    return { language: 'native', bytes: shapes[draw(shapes.length)]!, key }
  })
  const policies = new Map(
    [...natives, ...plutusScripts].map((script) => [toHex(hashOfLock(script)), script] as const),
  )
  return { draw, natives, policies }
}

const anyOf = <T>(items: readonly T[], draw: Draw): T => items[draw(items.length)] as T

function drawTokens({ draw, policies }: World): Tokens {
  const tokens = new Map<string, bigint>()
  for (let count = draw(4); count > 0; count--)
    tokens.set(anyOf([...policies.keys()], draw) + anyOf(names, draw), BigInt(1 + draw(2 ** 31)))
  return tokens
}

/** @param isPlain for scripts of Plutus V1, which see no inline datums and no reference scripts */
function drawOutput(world: World, lovelace: bigint, tokens: Tokens, isPlain: boolean): OutputPlan {
  const { draw, natives } = world
  const kind = draw(4)
  const lock = anyOf<Lock>(kind < 2 ? signers : kind === 2 ? natives : plutusScripts, draw)
  const bytes = anyOf(
    [
      Uint8Array.of(0x18, 0x2a),
      Uint8Array.of(0x83, 1, 0x41, 7, 0xa0),
      Uint8Array.of(0xd8, 0x79, 0x9f, 5, 0xff),
    ],
    draw,
  )
  const takesInline = !isPlain && !(isPlutus(lock) && lock.language === 'PlutusV1')
  const isNeeded = isPlutus(lock) && lock.language !== 'PlutusV3'
  const datum = isNeeded || draw(4) === 0 ? { bytes, inline: takesInline && draw(2) === 0 } : undefined
  const reference =
    isPlain || draw(4) > 0 ? undefined : anyOf<Plutus | Native>([...plutusScripts, ...natives], draw)
  return { lock, lovelace, tokens, ...(datum && { datum }), ...(reference && { reference }) }
}

/*
 * Blocks whose transactions keep every rule by which nodes judge, and use what layer 2 has: outputs of keys
 * and of scripts of every language, datums of every kind, reference scripts, tokens that are minted and
 * burned, withdrawals, collateral, metadata, required signers, validity intervals, all encodings that the
 * profile allows, deposits, and outputs that leave.
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
    const output = drawOutput(world, 6_000_000n + BigInt(draw(2 ** 20)), own, withV1)
    small.push({ ...output, leaves: draw(6) === 5 })
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
  const deposits: Deposit[] = []
  const view = new Map<string, TransactionOutput>()
  let unspent: Held[] = []
  const hold = (reference: OutputReference, plan: OutputPlan) => unspent.push({ reference, plan })
  for (let index = 0; index < 16; index++) {
    const isDeposit = draw(4) === 3
    const transactionId = new Uint8Array(32).fill(isDeposit ? 201 + index : 1 + draw(200))
    const reference = { transactionId, index: isDeposit ? 0 : 17 * index }
    const plan = drawOutput(
      world,
      30_000_000n + BigInt(draw(2 ** 30)) * (draw(4) === 0 ? 8n : 1n),
      drawTokens(world),
      draw(2) === 0,
    )
    const bytes = encodeOutput(looseEncoder(draw, false), draw, plan)
    if (isDeposit) deposits.push({ id: transactionId, output: bytes })
    else before.set(hexOf(reference), bytes)
    view.set(outputReferenceKey(reference), decodeTransactionOutput(bytes))
    hold(reference, plan)
  }
  const transactions: Uint8Array[] = []
  const judging: BlockRules = { ...rules, bridge, ...(evaluator && { evaluator }) }
  for (let count = 1 + draw(5); count > 0; count--) {
    const drawn = drawTransaction(world, unspent)
    const made = drawn && settle(drawn, world, draw(2 ** 31))
    if (drawn === undefined || made === undefined) continue
    const { cbor, id, outputs, plans } = made
    transactions.push(cbor)
    noteOutputs(id, outputs)
    unspent = unspent.filter((held) => !drawn.plan.inputs.includes(held))
    for (const [index, plan] of plans.entries()) if (!plan.leaves) hold({ transactionId: id, index }, plan)
  }
  try {
    return { block: await judged(transactions), refused: [] }
  } catch (error) {
    if (!isBlockError(error)) throw error
    const refused = (error.failures ?? []).map(({ predicate }) => predicate)
    // Those before it are honest.
    const honest = transactions.slice(0, error.position ?? 0)
    return { block: await judged(honest), refused }
  }

  async function judged(honest: readonly Uint8Array[]): Promise<TestBlock> {
    const block = blockOf(honest, before, {}, { deposits, bridge, feesTo })
    await judgeBlock(honest, block.header, view, judging, undefined, block.deposits)
    return block
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

type Encoder = ReturnType<typeof looseEncoder>

function encodeTokens({ bytes, map, uint }: Encoder, tokens: Tokens): Uint8Array {
  const byPolicy = new Map<string, [Uint8Array, Uint8Array][]>()
  for (const [unit, quantity] of tokens) {
    const policy = unit.slice(0, 56)
    const amount = quantity < 0n ? new CborWriter().int(quantity).toBytes() : uint(quantity)
    byPolicy.set(policy, [...(byPolicy.get(policy) ?? []), [bytes(fromHex(unit.slice(56))), amount]])
  }
  return map(Array.from(byPolicy, ([policy, own]) => [bytes(fromHex(policy)), map(own)] as const))
}

const languageNumber = { native: 0, PlutusV1: 1, PlutusV2: 2, PlutusV3: 3 } as const

function encodeOutput(encoder: Encoder, draw: Draw, plan: OutputPlan): Uint8Array {
  const { bytes, array, map, tag, uint } = encoder
  const { lock, lovelace, tokens, datum, reference, leaves = false } = plan
  // Without a stake part, with that of a key, or with that of a script.
  const stake = leaves ? 0 : draw(3)
  const header = ('language' in lock || leaves ? 0x10 : 0) + [0x60, 0x00, 0x20][stake]!
  const rest = stake === 0 ? new Uint8Array() : new Uint8Array(28).fill(draw(256))
  const address = bytes(concatBytes(Uint8Array.of(header), leaves ? bridge : hashOfLock(lock), rest))
  const value = tokens.size === 0 ? uint(lovelace) : array([uint(lovelace), encodeTokens(encoder, tokens)])
  const hash = datum && !datum.inline ? bytes(blake2b256(datum.bytes)) : undefined
  if (!reference && !datum?.inline && draw(2) === 0) return array([address, value, ...(hash ? [hash] : [])])
  const fields: [Uint8Array, Uint8Array][] = [
    [uint(0), address],
    [uint(1), value],
  ]
  if (hash) fields.push([uint(2), array([uint(0), hash])])
  else if (datum) fields.push([uint(2), array([uint(1), tag(24, bytes(datum.bytes))])])
  if (reference) {
    const script = reference.language === 'native' ? reference.bytes : bytes(reference.bytes)
    fields.push([uint(3), tag(24, bytes(array([uint(languageNumber[reference.language]), script])))])
  }
  return map(draw(4) === 3 ? fields.reverse() : fields)
}

interface Plan {
  readonly inputs: readonly Held[]
  readonly referenceInputs: readonly Held[]
  readonly outputs: readonly OutputPlan[]
  readonly fee: bigint
  readonly mint: Tokens
  readonly withdrawals: readonly (Plutus | Native)[]
  readonly required: readonly TestKey[]
  readonly collateral?: {
    readonly inputs: readonly Held[]
    readonly returned?: OutputPlan
    readonly total?: bigint
  }
  readonly validFrom?: bigint
  readonly validTo?: bigint
  readonly namesNetwork: boolean
  readonly metadata?: Uint8Array
  readonly keys: readonly TestKey[]
  readonly scripts: readonly (Plutus | Native)[]
  readonly datums: readonly Uint8Array[]
  readonly redeemers: readonly (readonly [purpose: number, index: number])[]
  readonly languages: readonly Plutus['language'][]
}

const fieldOfLanguage = { native: 1, PlutusV1: 3, PlutusV2: 6, PlutusV3: 7 } as const

/** Encodes and signs a transaction. The same draws give the same encoding. */
function encode(plan: Plan, draw: Draw): { cbor: Uint8Array; id: Uint8Array; outputs: Uint8Array[] } {
  const encoder = looseEncoder(draw, false)
  const { uint, bytes, array, map, set } = encoder
  type Field = readonly [number, Uint8Array]
  const fields = (entries: readonly Field[]) => {
    const encoded = entries.map(([key, value]) => [uint(key), value] as const)
    return map(draw(4) === 3 ? encoded.reverse() : encoded)
  }
  const references = (all: readonly Held[]) =>
    set(all.map(({ reference }) => encodeOutputReference(reference)))
  const account = (script: Plutus | Native) => bytes(Uint8Array.of(0xf0, ...hashOfLock(script)))
  const outputs = plan.outputs.map((output) => encodeOutput(encoder, draw, output))
  const { collateral, metadata } = plan
  const body: Field[] = [
    [0, references(plan.inputs)],
    [1, array(outputs)],
    [2, uint(plan.fee)],
  ]
  if (plan.validTo !== undefined) body.push([3, uint(plan.validTo)])
  if (plan.withdrawals.length > 0)
    body.push([5, map(plan.withdrawals.map((script) => [account(script), uint(0)] as const))])
  if (metadata) body.push([7, bytes(blake2b256(metadata))])
  if (plan.validFrom !== undefined) body.push([8, uint(plan.validFrom)])
  if (plan.mint.size > 0) body.push([9, encodeTokens(encoder, plan.mint)])
  if (collateral) body.push([13, references(collateral.inputs)])
  if (plan.required.length > 0) body.push([14, set(plan.required.map(({ hash }) => bytes(hash)))])
  if (plan.namesNetwork) body.push([15, uint(0)])
  if (collateral?.returned) body.push([16, encodeOutput(encoder, draw, collateral.returned)])
  if (collateral?.total !== undefined) body.push([17, uint(collateral.total)])
  if (plan.referenceInputs.length > 0) body.push([18, references(plan.referenceInputs)])

  const witnesses: Field[] = []
  for (const [language, field] of Object.entries(fieldOfLanguage)) {
    const own = plan.scripts.filter((script) => script.language === language)
    const encoded = own.map((script) => (language === 'native' ? script.bytes : bytes(script.bytes)))
    if (own.length > 0) witnesses.push([field, set(encoded)])
  }
  if (plan.datums.length > 0) witnesses.push([4, set(plan.datums)])
  if (plan.redeemers.length > 0) {
    const units = () => array([uint(5000 + draw(2000)), uint(5_000_000 + draw(2 ** 20))], true)
    const data = () => anyOf([uint(42), array([bytes(new Uint8Array(draw(60))), uint(draw(2 ** 30))])], draw)
    const entries = plan.redeemers.map(
      ([purpose, index]) => [uint(purpose), uint(index), data(), units()] as const,
    )
    witnesses.push([
      5,
      draw(2) === 0
        ? array(entries.map((entry) => array([...entry])))
        : map(
            entries.map(([purpose, index, ...rest]) => [array([purpose, index]), array(rest, true)] as const),
          ),
    ])
  }
  const framed = (body: Uint8Array, witnesses: Uint8Array) =>
    concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(0xf5), metadata ?? Uint8Array.of(0xf6))
  const unsigned = decodeTransaction(framed(fields(body), fields(witnesses)))
  const dataHash = scriptIntegrityHash(unsigned, new Set(plan.languages), rules.parameters)
  if (dataHash) body.push([11, bytes(dataHash)])
  const bodyBytes = fields(body)
  const id = blake2b256(bodyBytes)
  const signed = plan.keys.map((key) => array([bytes(key.publicKey), bytes(key.sign(id))], true))
  if (signed.length > 0) witnesses.unshift([0, set(signed)])
  return { id, outputs, cbor: framed(bodyBytes, fields(witnesses)) }
}
