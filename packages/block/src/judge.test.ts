import { CborWriter, concatBytes } from '@ratatosk/cbor'
import {
  encodeInput,
  encodeList,
  encodeSet,
  encodeUint,
  keyOf,
  outputOf,
  type SignedTransaction,
  signDraft,
  transfer,
} from '@ratatosk/fixtures'
import {
  appliedTransaction,
  decodeTransaction,
  decodeTransactionOutput,
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  profileLimits,
} from '@ratatosk/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Deposit } from './body.js'
import { feeOutput } from './events.js'
import { type BlockRules, fitOf, intervalOf, judgeBlock, type KnownTransaction } from './judge.js'
import { vector } from './test/vector.js'

const rate = { numerator: 0n, denominator: 1n }
const parameters: ProtocolParameters = {
  minFeeA: 0n,
  minFeeB: 0n,
  maxTransactionSize: 16_384,
  maxValueSize: 5000,
  coinsPerUtxoByte: 0n,
  collateralPercentage: 150n,
  maxCollateralInputs: 3,
  executionPrices: { memory: rate, steps: rate },
  maxTransactionExecutionUnits: { memory: 14_000_000n, steps: 10_000_000_000n },
  maxBlockExecutionUnits: { memory: 62_000_000n, steps: 20_000_000_000n },
  referenceScriptCostPerByte: rate,
  costModels: {},
  ledgerVersion: { major: 10, minor: 0 },
  keyDeposit: 0n,
  poolDeposit: 0n,
  drepDeposit: 0n,
  governanceActionDeposit: 0n,
}
const rules = { parameters, networkId: 0, slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 } }
const header = {
  startTime: 100_000n,
  endTime: 200_000n,
  prevHeaderHash: new Uint8Array(28).fill(1),
  operatorVkey: new Uint8Array(28).fill(2),
}

const key = keyOf(7)
const [first, second] = [1, 2].map((id) => ({ transactionId: new Uint8Array(32).fill(id), index: 0 })) as [
  OutputReference,
  OutputReference,
]
const before = new Map(
  [first, second].map((reference) => [
    outputReferenceKey(reference),
    decodeTransactionOutput(outputOf(key, 5n)),
  ]),
)

const judge = (...transactions: readonly SignedTransaction[]) =>
  judgeBlock(
    transactions.map(({ cbor }) => cbor),
    header,
    before,
    rules,
  )

/** A transfer with further fields in its body. */
function special(
  inputs: readonly OutputReference[],
  fields: readonly [number, Uint8Array][],
): SignedTransaction {
  const body = new Map([
    [0, references(inputs)],
    [1, encodeList([outputOf(key, 5n)])],
    [2, encodeUint(0)],
    ...fields,
  ])
  return signDraft({ body, witnesses: new Map(), signers: [key], isValid: true })
}

const references = (list: readonly OutputReference[]) =>
  encodeSet(list.map(({ transactionId, index }) => encodeInput(transactionId, index)))
const reading = (reference: OutputReference) => references([reference])

it('accepts a chain of transfers in block order', async () => {
  const parent = transfer(key, [first], [2n, 3n])
  await judge(parent, transfer(key, [{ transactionId: parent.id, index: 1 }, second], [8n]))
})

it.each([
  [
    'an unsigned transaction',
    () => transfer({ ...key, sign: () => new Uint8Array(64) }, [first], [5n]),
    'InvalidWitnessesUTXOW',
  ],
  ['another owner’s output', () => transfer(keyOf(8), [first], [5n]), 'MissingVKeyWitnessesUTXOW'],
  ['value that no input has', () => transfer(key, [first], [1_000_000_000n]), 'ValueNotConservedUTxO'],
  ['an input that does not exist', () => transfer(key, [{ ...first, index: 9 }], [5n]), 'BadInputsUTxO'],
])('refuses %s', async (_what, make, predicate) => {
  await expect(judge(transfer(key, [second], [5n]), make())).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    position: 1,
    failures: expect.arrayContaining([expect.objectContaining({ predicate })]),
  })
})

it('refuses an output that is spent twice', async () => {
  await expect(judge(transfer(key, [first], [5n]), transfer(key, [first], [2n, 3n]))).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    position: 1,
  })
})

it('refuses fees that reach 2^64 lovelace together, which a transaction record cannot hold', async () => {
  const half = 2n ** 63n
  const rich = new Map(
    [first, second].map((reference) => [
      outputReferenceKey(reference),
      decodeTransactionOutput(outputOf(key, half + 5n)),
    ]),
  )
  const paying = (reference: OutputReference, fee: bigint) =>
    special(
      [reference],
      [
        [1, encodeList([outputOf(key, half + 5n - fee)])],
        [2, encodeUint(fee)],
      ],
    )
  const judged = (fee: bigint) =>
    judgeBlock([paying(first, half).cbor, paying(second, fee).cbor], header, rich, rules)
  await judged(half - 1n)
  await expect(judged(half)).rejects.toMatchObject({ code: 'BLOCK_INVALID', position: 1 })
})

const slot = (number: number) => new CborWriter().uint(number).toBytes()

it.each([
  ['begins with its last slot', 8, 199],
  ['ends after its first slot', 3, 101],
])('accepts an interval that %s', async (_what, field, at) => {
  await judge(special([first], [[field, slot(at)]]))
})

it.each([
  ['begins when it ends', 8, 200],
  ['ends when it begins', 3, 100],
])('refuses an interval that %s', async (_what, field, at) => {
  await expect(judge(special([first], [[field, slot(at)]]))).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    position: 0,
    failures: [{ predicate: 'OutsideValidityIntervalUTxO' }],
  })
})

it('judges in block order: a reader before the transaction that spends what it reads', async () => {
  const reader = special([second], [[18, reading(first)]])
  const spender = transfer(key, [first], [5n])
  await judge(reader, spender)
  await expect(judge(spender, reader)).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    position: 1,
    failures: expect.arrayContaining([expect.objectContaining({ predicate: 'BadInputsUTxO' })]),
  })
})

it('refuses exactly the intervals that do not meet the block', async () => {
  const bound = fc.option(fc.integer({ min: 98, max: 202 }), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(bound, bound, async (from, until) => {
      const fields: [number, Uint8Array][] = []
      if (until !== undefined) fields.push([3, slot(until)])
      if (from !== undefined) fields.push([8, slot(from)])
      const fit = fitOf(
        {
          ...(from !== undefined && { invalidBefore: BigInt(from) }),
          ...(until !== undefined && { invalidHereafter: BigInt(until) }),
        },
        intervalOf(header, rules.slots),
      )
      const judged = await judge(special([first], fields)).then(
        () => 'within',
        () => 'outside',
      )
      expect(judged === 'within').toBe(fit === 'within')
      const times = [from ?? 0, until ?? 1000].map((at) => at * 1000)
      const meets = times[0]! < Math.min(times[1]!, 200_000) && times[1]! > 100_000
      expect(fit === 'within').toBe(meets)
    }),
  )
})

it('refuses a transaction that does not decode, and one that names an output that does not', async () => {
  const { cbor } = special([first], [])
  // Auxiliary data are no text.
  const undecoded = concatBytes(cbor.subarray(0, -1), Uint8Array.of(0x60))
  await expect(judgeBlock([undecoded], header, before, rules)).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    position: 0,
    cause: { code: 'BLOCK_TRANSACTION_MALFORMED' },
  })
  const bytes = outputOf(key, 5n)
  const damaged = { get: () => decodeTransactionOutput(bytes.subarray(1)) }
  await expect(judgeBlock([cbor], header, damaged, rules)).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    reference: outputReferenceKey(first),
  })
})

describe('of a transaction that is known to be valid', () => {
  const knownOf = ({ cbor }: SignedTransaction): KnownTransaction => {
    const transaction = decodeTransaction(cbor)
    const { fee, validityInterval, inputs, referenceInputs } = transaction.body
    return {
      ...appliedTransaction(transaction),
      named: [...inputs, ...referenceInputs],
      fee,
      validityInterval,
    }
  }
  const judgeKnown = (known: SignedTransaction, ...others: readonly SignedTransaction[]) => {
    const transactions = [...others, known].map(({ cbor }) => cbor)
    const at = (place: number) => (place === others.length ? knownOf(known) : undefined)
    return judgeBlock(transactions, header, before, rules, at)
  }
  const unsigned = { ...key, sign: () => new Uint8Array(64) }

  it('judges no signature again, but that of a transaction that follows from it', async () => {
    const parent = transfer(unsigned, [first], [5n])
    await judgeKnown(parent)
    const child = transfer(unsigned, [{ transactionId: parent.id, index: 0 }], [5n])
    const at = (place: number) => (place === 0 ? knownOf(parent) : undefined)
    await expect(judgeBlock([parent.cbor, child.cbor], header, before, rules, at)).rejects.toMatchObject({
      position: 1,
      failures: [expect.objectContaining({ predicate: 'InvalidWitnessesUTXOW' })],
    })
  })

  it.each([
    ['its interval', [3, slot(100)], 'OutsideValidityIntervalUTxO'],
    ['what it reads', [18, reading(first)], 'BadInputsUTxO'],
  ] as const)('judges %s again', async (_what, field, predicate) => {
    const known = special([second], [[...field]])
    const spender = transfer(key, [first], [5n])
    await expect(judgeKnown(known, spender)).rejects.toMatchObject({
      code: 'BLOCK_INVALID',
      position: 1,
      failures: expect.arrayContaining([expect.objectContaining({ predicate })]),
    })
  })
})

it('refuses a transaction that is too large before it looks anything up', async () => {
  const many = Array.from({ length: profileLimits.inputs + 1 }, (_, index) => ({ ...first, index }))
  const unsigned = { ...key, sign: () => new Uint8Array(64) }
  const before = {
    get() {
      throw new Error('It was looked up')
    },
  }
  await expect(
    judgeBlock([transfer(unsigned, many, [5n]).cbor], header, before, rules),
  ).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    failures: [expect.objectContaining({ predicate: 'TooManyInputs' })],
  })
})

it('refuses the first transaction behind 1,024 chunks before it looks at any', async () => {
  // Two of them do not fit into a chunk.
  const transactions = new Array<Uint8Array>(1025).fill(new Uint8Array(6134))
  const known: KnownTransaction = {
    ...{ named: [], spent: [], produced: [], fee: 0n },
    validityInterval: decodeTransaction(special([first], []).cbor).body.validityInterval,
  }
  await judgeBlock(transactions.slice(1), header, before, rules, () => known)
  const isKnown = () => {
    throw new Error('It was looked at')
  }
  await expect(judgeBlock(transactions, header, before, rules, isKnown)).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    position: 1024,
    cause: { code: 'BLOCK_TOO_LARGE' },
  })
})

describe('the fee output', () => {
  const bridged = { ...rules, bridge: new Uint8Array(28).fill(0xb1) }
  const target = { ...header, networkId: 0 }
  const paid = transfer(key, [first], [3n], { fee: 2n })
  const free = transfer(key, [second], [5n])
  const crediting = (
    deposits: readonly Deposit[],
    transactions = [paid, free],
    given: BlockRules = bridged,
  ) =>
    judgeBlock(
      transactions.map(({ cbor }) => cbor),
      header,
      before,
      given,
      undefined,
      deposits,
    )
  const right = feeOutput(target, 2n)!

  it('pays all fees to the operator, without a bridge none', async () => {
    await crediting([right])
    await crediting([{ ...right, id: new Uint8Array(32) }, right])
    await crediting([], [free])
    await crediting([], undefined, rules)
    expect(decodeTransactionOutput(right.output)).toMatchObject({
      address: { kind: 'enterprise', networkId: 0, payment: { kind: 'key', hash: header.operatorVkey } },
      value: { lovelace: 2n, assets: new Map() },
    })
  })

  it('is that of the test vector', () => {
    const [prevHeaderHash, operatorVkey] = ['fee_prev_header_hash', 'fee_operator_vkey'].map(vector) as [
      Uint8Array,
      Uint8Array,
    ]
    expect(feeOutput({ prevHeaderHash, operatorVkey, networkId: 0 }, 300_000n)).toEqual({
      id: vector('fee_id'),
      output: vector('fee_output'),
    })
  })

  it.each([
    ['is missing', []],
    ['has less', [feeOutput(target, 1n)!]],
    ['has more', [feeOutput(target, 3n)!]],
    ['is on another network', [feeOutput({ ...target, networkId: 1 }, 2n)!]],
    ['belongs to another', [feeOutput({ ...target, operatorVkey: target.prevHeaderHash }, 2n)!]],
    ['has another id', [{ ...right, id: new Uint8Array(32) }]],
  ])('refuses a block whose fee output %s', async (_what, deposits) => {
    await expect(crediting(deposits)).rejects.toMatchObject({
      code: 'BLOCK_INVALID',
      message: expect.stringContaining('are 2 lovelace'),
    })
  })

  it('is neither spent nor read in its own block, which would be a loan of any size', async () => {
    const own = { transactionId: right.id, index: 0 }
    const huge = 2n ** 63n
    const target = { ...header, operatorVkey: key.address.slice(1), networkId: 0 }
    const credit = feeOutput(target, huge + 4n)!
    const judging = (transactions: readonly SignedTransaction[], fees: Deposit) =>
      judgeBlock(
        transactions.map(({ cbor }) => cbor),
        target,
        before,
        bridged,
        undefined,
        [fees],
      )
    const loan = transfer(key, [{ transactionId: credit.id, index: 0 }], [4n], { fee: huge })
    const rest = transfer(key, [second], [1n], { fee: 4n })
    const missing = { failures: [expect.objectContaining({ predicate: 'BadInputsUTxO' })] }
    await expect(judging([loan, rest], credit)).rejects.toMatchObject(missing)
    const reading = transfer(key, [first], [3n], { fee: 2n, referenceInputs: [own] })
    await expect(judging([reading], right)).rejects.toMatchObject(missing)
  })

  it('refuses one where there are no fees', async () => {
    await expect(crediting([right], [free])).rejects.toMatchObject({ code: 'BLOCK_INVALID' })
  })

  it('counts the fees of transactions that are known', async () => {
    const known: KnownTransaction = {
      ...{ named: [], spent: [first], produced: [], fee: 2n },
      validityInterval: decodeTransaction(paid.cbor).body.validityInterval,
    }
    const judging = (deposits: readonly Deposit[]) =>
      judgeBlock([paid.cbor], header, before, bridged, () => known, deposits)
    await judging([right])
    await expect(judging([])).rejects.toMatchObject({ code: 'BLOCK_INVALID' })
  })
})
