import { partsOf } from '@ratatosk/block'
import { CborReader, concatBytes, equalBytes, fromHex, isWellFormed, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  encodeOutputReference,
  minimumFee,
  type OutputReference,
  profileLimits,
} from '@ratatosk/ledger'
import {
  type Asset,
  openRecord,
  openTransaction,
  type ResolvedOutputs,
  type TransactionFraudProof,
} from '@ratatosk/protocol/fraud'
import { blockOf, type Entries, hexOf, type TestBlock } from '../blocks.js'
import type { Draw } from '../draw.js'
import {
  assets,
  firstSlot,
  lastSlot,
  list,
  map,
  type OutputPlan,
  openList,
  openMap,
  outputWith,
  type Plan,
  policy,
  rules,
  string,
  type Tokens,
  text,
  transfer,
  uint,
} from './transactions.js'

interface Held {
  readonly reference: OutputReference
  readonly plan: OutputPlan
}

const forms = ['map', 'array', 'indefinite map', 'indefinite array'] as const
const names = ['', 'gold', 'a name of silver that is longer!'].map(text)

/** Not among the outputs that are drawn: its contents are unknown. */
const collateral: OutputReference = { transactionId: new Uint8Array(32).fill(0xee), index: 9 }

const drawTokens = (draw: Draw): Tokens =>
  Array.from({ length: draw(4) }, (_, i) => i).flatMap((i) =>
    draw(2) === 0 ? [] : [[policy(1 + (i >> 1)), names[(i * 2) % 3]!, BigInt(1 + draw(2 ** 20))] as const],
  )

const drawScript = (draw: Draw): Uint8Array | undefined =>
  [
    undefined,
    undefined,
    list(uint(3), string(new Uint8Array(1 + draw(300)))),
    list(uint(0), list(uint(0), string(policy(draw(9))))),
    openList(uint(0), list(uint(0), string(policy(4)))),
    openList(uint(1), string(new Uint8Array(30))),
  ][draw(6)]

function drawOutput(draw: Draw, lovelace: bigint, tokens: Tokens): OutputPlan {
  const form = forms[draw(4)]!
  const script = form.endsWith('map') ? drawScript(draw) : undefined
  return { lovelace, tokens, form, ...(script && { script }) }
}

/** An output in the form with the fewest items. */
const plain = (lovelace: bigint): OutputPlan => ({ lovelace, form: 'array' })

/** The most inputs, reference inputs or outputs that layer 2 allows. */
const atLimit = [
  { inputs: profileLimits.inputs, reads: 0, small: 0 },
  { inputs: 2, reads: profileLimits.inputs / 2 - 1, small: 0 },
  { inputs: 1, reads: 0, small: profileLimits.outputs - 1 },
] as const

/**
 * A block as an honest operator builds it, at random: its transactions keep all rules of their own. One
 * transaction of some blocks is at a limit of layer 2.
 */
export function honestTransactionsOf(draw: Draw): TestBlock {
  const before: Entries = new Map()
  const unspent: Held[] = []
  const hold = (id: number, index: number, plan: OutputPlan): Held => {
    const held = { reference: { transactionId: new Uint8Array(32).fill(id), index }, plan }
    before.set(hexOf(held.reference), outputWith(plan))
    return held
  }
  for (let i = 0; i < 12; i++)
    unspent.push(
      hold(1 + draw(200), 17 * i, drawOutput(draw, 20_000_000n + BigInt(draw(2 ** 30)), drawTokens(draw))),
    )
  const transactions: Uint8Array[] = []
  const large = atLimit[draw(2 * atLimit.length)]
  if (large !== undefined) {
    const many = (id: number, count: number) =>
      Array.from({ length: count }, (_, index) => hold(id, index, plain(2n ** 30n)))
    const [inputs, read] = [many(201, large.inputs), many(202, large.reads)]
    transactions.push(honestTransaction(draw, inputs, read, Array(large.small).fill(plain(2_000_000n))).cbor)
  }
  for (let count = 1 + draw(3); count > 0; count--) {
    const inputs = Array.from({ length: 1 + draw(3) }, () => unspent.splice(draw(unspent.length), 1)[0]!)
    const read = [...new Set(Array.from({ length: draw(3) }, () => unspent[draw(unspent.length)]!))]
    const { cbor, id, outputs } = honestTransaction(draw, inputs, read)
    transactions.push(cbor)
    unspent.push(...outputs.map((plan, index) => ({ reference: { transactionId: id, index }, plan })))
  }
  return blockOf(transactions, before)
}

function honestTransaction(
  draw: Draw,
  inputs: readonly Held[],
  read: readonly Held[],
  payments?: readonly OutputPlan[],
) {
  const { fields, minted } = drawFields(draw, inputs)
  const auxiliaryData = draw(3) === 0 ? map([uint(1), string(new Uint8Array(draw(60)))]) : undefined
  const tokens = new Map<string, Tokens[number]>()
  for (const [id, name, quantity] of [...inputs.flatMap(({ plan }) => plan.tokens ?? []), ...minted]) {
    const key = toHex(concatBytes(id, name))
    tokens.set(key, [id, name, (tokens.get(key)?.[2] ?? 0n) + quantity])
  }
  const left = [...tokens.values()].filter(([, , quantity]) => quantity > 0n)
  const held = inputs.reduce((sum, { plan }) => sum + plan.lovelace, 0n)
  // The rest must be enough for change.
  const small =
    payments ??
    Array.from({ length: held < 25_000_000n ? 0 : draw(3) }, () =>
      drawOutput(draw, 6_000_000n + BigInt(draw(2 ** 20)), []),
    )
  const rest = small.reduce((sum, { lovelace }) => sum - lovelace, held)
  const change = drawOutput(draw, 0n, left)
  const plan: Plan = {
    inputs: inputs.map(({ reference }) => reference),
    referenceInputs: read.map(({ reference }) => reference),
    fields,
    witnessSet: drawWitnesses(draw),
    ...(auxiliaryData && { auxiliaryData }),
    indefinite: draw(3) === 0,
  }
  const scripts = [...inputs, ...read].reduce(
    (sum, { plan }) => sum + (decodeTransactionOutput(outputWith(plan)).referenceScript?.bytes.length ?? 0),
    0,
  )
  const extra = BigInt(draw(2) * draw(1000))
  for (let fee = 1_000_000n; ; ) {
    const outputs = [...small, { ...change, lovelace: rest - fee }]
    const made = transfer({ ...plan, fee, outputs: outputs.map(outputWith) })
    const least = minimumFee(decodeTransaction(made.cbor), rules.parameters, scripts)
    if (fee === least + extra || (fee > least && fee - least < 1000n)) return { ...made, outputs }
    fee = least + extra
  }
}

function drawFields(draw: Draw, inputs: readonly Held[]) {
  const minted: Tokens[number][] = []
  if (draw(2) === 0) minted.push([policy(8), names[draw(3)]!, BigInt(1 + draw(1000))])
  // A map has no key twice, so what is minted is not burned too.
  const isMinted = ([id, name]: Tokens[number]) =>
    minted.some((own) => equalBytes(own[0], id) && equalBytes(own[1], name))
  const burned = inputs[0]!.plan.tokens?.[0]
  if (draw(2) === 0 && burned && !isMinted(burned))
    minted.push([burned[0], burned[1], -1n - BigInt(draw(Number(burned[2])))])
  const script = (byte: number) => Uint8Array.of(0xf0, ...policy(byte))
  const from = firstSlot - 20n + BigInt(draw(40))
  const fields: (readonly [number, Uint8Array])[] = []
  if (minted.length > 0) fields.push([9, assets(minted, draw(2) === 0 ? map : openMap)])
  if (draw(2) === 0) fields.push([8, uint(from < lastSlot ? from : lastSlot)])
  if (draw(2) === 0) fields.push([3, uint(lastSlot + BigInt(draw(9)))])
  if (draw(2) === 0) fields.push([15, uint(0)])
  if (draw(3) === 0) fields.push([5, (draw(2) === 0 ? map : openMap)([string(script(1)), uint(0)])])
  if (draw(3) === 0)
    fields.push(
      [13, list(encodeOutputReference(collateral))],
      [16, outputWith(drawOutput(draw, 5_000_000n, []))],
    )
  return { fields, minted }
}

function drawWitnesses(draw: Draw): Uint8Array {
  const units = list(uint(draw(2 ** 20)), uint(draw(2 ** 28)))
  const pointers = Array.from({ length: draw(4) }, () => [draw(3), draw(3)] as const)
  const lists = [list, openList][draw(2)]!
  const datums = [uint(4), lists(string(new Uint8Array(draw(60))), uint(draw(99)))] as const
  if (pointers.length === 0) return draw(2) === 0 ? map() : map(datums)
  const inList = draw(2) === 0
  const redeemers = pointers.map(([purpose, index]) =>
    inList
      ? lists(uint(purpose), uint(index), openList(uint(7)), units)
      : concatBytes(lists(uint(purpose), uint(index)), list(uint(7), units)),
  )
  const field = inList
    ? lists(...redeemers)
    : concatBytes(Uint8Array.of(0xa0 + redeemers.length), ...redeemers)
  return map(datums, [uint(5), field])
}

/** The known outputs of the first inputs and reference inputs of a transaction. */
function resolvedOf(
  outputs: readonly (Uint8Array | undefined)[],
  count: number,
): ResolvedOutputs | undefined {
  if (outputs.some((output) => output === undefined)) return undefined
  const known = outputs as readonly Uint8Array[]
  return { outputs: known.slice(0, count), hashes: concatBytes(...known.slice(count).map(blake2b256)) }
}

/** The place of what inputs stand for: made in the block, or before it. */
function outputsOf(block: TestBlock): (key: Uint8Array) => Uint8Array | undefined {
  const made = new Map<string, Uint8Array>()
  for (const transaction of block.transactions) {
    const { id, outputs } = partsOf(transaction)
    for (const [index, output] of outputs.entries()) made.set(hexOf({ transactionId: id, index }), output)
  }
  return (key) => made.get(toHex(key)) ?? block.outputsBefore.get(toHex(key))
}

const assetPlaces = [-1, 0, 1, 2].flatMap((policy) => [-1, 0, 1, 2].map((name) => ({ policy, name })))

/** First bytes of keys: of all fields, some that no map has, and the break. */
const strangeKeys = [...Array.from({ length: 26 }, (_, place) => place - 1), 0x40, 0xa0, 0xff]

/** Every proof about a block's transactions from their true parts: at each place, and beyond. */
export function* transactionProofsOf(block: TestBlock): Generator<TransactionFraudProof, void> {
  const outputOf = outputsOf(block)
  for (const [position, bytes] of block.transactions.entries()) {
    const transaction = openTransaction(block, position)
    const { body, witnesses, auxiliaryData } = decodeTransaction(bytes)
    const resolved = [...body.inputs, ...body.referenceInputs].map(encodeOutputReference).map(outputOf)
    const counts = [...new Set([0, body.inputs.length - 1, body.inputs.length, resolved.length])]
    for (const asset of assetsIn(block, position, resolved)) {
      for (const count of counts) {
        const shown = resolvedOf(resolved, count)
        if (shown) yield { fraud: 'valueNotPreserved', transaction, resolved: shown, asset }
      }
    }
    const witnessSet = witnesses.bytes
    for (const data of [undefined, auxiliaryData?.bytes, witnessSet]) {
      for (const shown of [undefined, resolvedOf(resolved, resolved.length)])
        yield {
          fraud: 'feeTooSmall',
          transaction,
          witnessSet,
          ...(data && { auxiliaryData: data }),
          ...(shown && { resolved: shown }),
        }
    }
    for (const asset of assetPlaces) {
      for (let output = -1; output <= body.outputs.length; output++)
        yield { fraud: 'strangeOutput', transaction, output, asset }
      yield { fraud: 'strangeOutput', transaction, output: 'collateralReturn', asset }
      yield { fraud: 'strangeField', part: transaction, key: 9, asset }
    }
    for (const fraud of ['outputTooSmall', 'outputOnOtherNetwork'] as const) {
      for (let output = -2; output <= body.outputs.length; output++) yield { fraud, transaction, output }
      yield { fraud, transaction, output: 'collateralReturn' }
    }
    for (const fraud of ['outsideInterval', 'wrongNetwork', 'forbiddenWithdrawal', 'noInputs'] as const)
      yield { fraud, transaction }
    for (let key = -1; key <= 24; key++) yield { fraud: 'forbiddenField', transaction, key }
    for (let input = 0; input <= body.inputs.length; input++) {
      for (let referenceInput = 0; referenceInput <= body.referenceInputs.length; referenceInput++)
        yield { fraud: 'inputIsReferenceInput', transaction, input, referenceInput }
    }
    const record = openRecord(block, position)
    for (const count of counts) {
      const shown = resolvedOf(resolved, count)
      if (shown) yield { fraud: 'unreadablePart', part: { record, resolved: shown } }
    }
    for (const part of [transaction, { record, witnessSet }]) {
      yield { fraud: 'unreadablePart', part }
      yield { fraud: 'malformedPart', part }
      yield { fraud: 'tooMany', part }
      for (const key of strangeKeys) yield { fraud: 'strangeField', part, key }
    }
    for (const [part, cbor] of [
      [transaction, body.bytes],
      [{ record, witnessSet }, witnessSet],
    ] as const) {
      for (const path of pathsIn(cbor)) {
        yield { fraud: 'strangeItem', part, path }
        for (const same of pairs) yield { fraud: 'strangeItem', part, path, same }
      }
    }
    for (const isBootstrap of [false, true]) {
      const own = isBootstrap ? witnesses.bootstrapWitnesses : witnesses.keyWitnesses
      for (let index = -1; index <= own.length; index++)
        yield { fraud: 'strangeWitness', record, witnessSet, isBootstrap, index }
    }
    for (const set of ['inputs', 'collateralInputs', 'referenceInputs'] as const) {
      for (let index = -1; index <= body[set].length; index++) {
        yield { fraud: 'unreadableReference', transaction, set, index }
        for (const other of [-1, 0, index, body[set].length])
          yield { fraud: 'repeatedReference', transaction, set, index, other }
      }
    }
  }
}

/** Ada, the assets that a transaction moves, and some that it does not. */
function assetsIn(
  block: TestBlock,
  position: number,
  resolved: readonly (Uint8Array | undefined)[],
): Asset[] {
  const { body } = decodeTransaction(block.transactions[position]!)
  const spent = resolved.flatMap((output) => (output ? [decodeTransactionOutput(output)] : []))
  const units = new Set<string>([toHex(policy(99))])
  for (const held of [...[...spent, ...body.outputs].map(({ value }) => value.assets), body.mint]) {
    for (const [id, quantities] of held) for (const name of quantities.keys()) units.add(id + name)
  }
  const strange: Asset = { policy: policy(1).subarray(2), name: text('gold') }
  const known = [...units].map((unit) => ({
    policy: fromHex(unit.slice(0, 56)),
    name: fromHex(unit.slice(56)),
  }))
  return [{}, strange, ...known]
}

/** Two parts of an item, some of which are not there. */
const pairs = [
  [0, 1],
  [1, 1],
  [-1, 2],
] as const

/**
 * The path of every item, and of bytes that are not an item: steps count parts and, of maps, name keys too;
 * the content of strings and what is beyond the last part are read as items.
 */
function* pathsIn(cbor: Uint8Array, path: readonly number[] = []): Generator<readonly number[], void> {
  const reader = new CborReader(cbor)
  const major = reader.peekMajor()
  yield path
  if (major < 2 || path.length > 9) return
  yield [...path, -1]
  if (major === 3 || major === 7) return
  if (major === 2) {
    yield [...path, 0]
    if (reader.tryIndefinite(2)) return
    const content = reader.readBytes()
    if (isWellFormed(content)) yield* pathsIn(content, [...path, 0])
    return
  }
  if (major === 6) {
    reader.readTag()
    yield* pathsIn(cbor.subarray(reader.position), [...path, 0])
    return
  }
  const count = major === 5 ? reader.readMap() : reader.readArray()
  const steps: number[] = []
  const partOf = (): Uint8Array => {
    const start = reader.position
    reader.skip()
    return reader.since(start)
  }
  for (let i = 0; reader.hasNext(count, i); i++) {
    const parts = major === 5 ? [partOf(), partOf()] : [partOf()]
    for (const [place, part] of parts.entries()) {
      steps.push(steps.length)
      yield* pathsIn(part, [...path, steps.length - 1])
      const key = parts[0]![0]!
      if (place === 1 && key < 24 && key !== steps.length - 1) yield* pathsIn(part, [...path, key])
    }
  }
  yield [...path, steps.length]
  yield [...path, 255]
}
