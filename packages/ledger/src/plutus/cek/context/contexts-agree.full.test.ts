import { CborWriter, toHex } from '@ratatosk/cbor'
import { afterAll, expect, test } from 'vitest'
import { blake2b224, blake2b256 } from '#crypto'
import { engineCostModels } from '../../../parameters/parse.js'
import { resolve } from '../../../rules/context.js'
import { decodeTransaction, decodeTransactionOutput } from '../../../transaction/decode.js'
import type { RedeemerPurpose, Transaction, TransactionOutput } from '../../../transaction/types.js'
import { createEnginePool, type EnginePool } from '../../engine-pool.js'
import { engineRequest, visibleInputs } from '../../evaluator.js'
import { flatProgram, scriptBytes, type Term } from '../../test/flat.js'
import type { SecondOpinion } from '../../test/second-opinion-thread.js'
import { describeVectors, scenarioParameters, secondOpinionProgram, threadProgram } from '../../test/setup.js'
import { bytesData, constructorData, encodeData, integerData, listData, mapData } from '../values/data.js'

type Cbor = number | bigint | Uint8Array | string | null | readonly Cbor[] | Map<Cbor, Cbor> | Tagged | Raw

interface Tagged {
  readonly tag: number
  readonly content: Cbor
}

/** Encoded items. */
interface Raw {
  readonly raw: Uint8Array
}

function write(value: Cbor, writer = new CborWriter()): CborWriter {
  if (value === null) writer.null()
  else if (typeof value === 'number' || typeof value === 'bigint') writer.int(value)
  else if (typeof value === 'string') writer.text(value)
  else if (value instanceof Uint8Array) writer.bytes(value)
  else if (value instanceof Map) {
    writer.map(value.size)
    for (const [key, item] of value) write(item, write(key, writer))
  } else if (isTagged(value)) write(value.content, writer.tag(value.tag))
  else if (isRaw(value)) writer.raw(value.raw)
  else {
    writer.array(value.length)
    for (const item of value) write(item, writer)
  }
  return writer
}

const isTagged = (value: object): value is Tagged => 'tag' in value
const isRaw = (value: object): value is Raw => 'raw' in value
const encode = (value: Cbor): Uint8Array => write(value).toBytes()
const hash = (fill: number): Uint8Array => new Uint8Array(28).fill(fill)
const id = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const address = (header: number, ...parts: Uint8Array[]) =>
  Uint8Array.of(header, ...parts.flatMap((part) => [...part]))
const key = (fill: number): Cbor => [0, hash(fill)]
const half: Tagged = { tag: 30, content: [1, 2] }
const nativeScript: Cbor = [0, hash(1)]
const nativePolicy = blake2b224(Uint8Array.of(0, ...encode(nativeScript)))
const anchor: Cbor = ['https://example.org', id(9)]

const units: Cbor = [14_000_000, 10_000_000_000]
const purposes: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']
const languages = { PlutusV2: { number: 2, witness: 6 }, PlutusV3: { number: 3, witness: 7 } }

// In the encoding in which scripts serialize data, because Aiken keeps the submitted encoding.
const datum = encodeData(
  constructorData(0, [
    integerData(1),
    bytesData(Uint8Array.of(1, 2)),
    mapData([[integerData(1), listData([])]]),
  ]),
)
const redeemer = encodeData(constructorData(1, [integerData(5)]))

type Shown = 'PlutusV2' | 'PlutusV3'

/**
 * A transaction with nearly everything that a script context of the language can represent, except what
 * engines represent differently from plutus-ledger-api: stake pointers, constitutions, unreduced fractions
 * (scalus), and credentials of both kinds in one map (both).
 * @param options `asAikenTakes`: also without proposals, on which Aiken's build fails, and deposits, which it
 * represents as in ledger version 9
 */
function richTransaction(
  language: Shown,
  purpose: RedeemerPurpose,
  { asAikenTakes = false }: { asAikenTakes?: boolean } = {},
): { transaction: Transaction; utxos: Map<string, TransactionOutput> } {
  const { number, witness } = languages[language]
  const third = language === 'PlutusV3'
  const probe = scriptBytes(contextProbe(third ? 0 : purpose === 'spend' ? 2 : 1))
  const probeHash = blake2b224(Uint8Array.of(number, ...probe))
  const script = (for_: RedeemerPurpose, other: number): Cbor =>
    purpose === for_ ? [1, probeHash] : key(other)
  const payment = purpose === 'spend' ? address(0x70, probeHash) : address(0x60, hash(1))

  const inputs: Cbor[] = [
    [id(2), 5],
    [id(1), 1],
    [id(1), 0],
  ]
  const outputs: Cbor[] = [
    [address(0x60, hash(4)), 2_000_000],
    new Map<Cbor, Cbor>([
      [0, payment],
      [
        1,
        [
          3_000_000,
          new Map([
            [
              hash(8),
              new Map([
                [new Uint8Array([2]), 7],
                [new Uint8Array(), 5],
              ]),
            ],
            [hash(7), new Map([[new Uint8Array([1, 1]), 9_000_000_000_000_000]])],
          ]),
        ],
      ],
      [2, [1, { tag: 24, content: datum }]],
    ]),
    new Map<Cbor, Cbor>([
      [0, address(0x20, hash(5), hash(6))],
      [1, 1_500_000],
      [2, [0, blake2b256(datum)]],
      [3, { tag: 24, content: encode([0, [0, hash(1)]]) }],
    ]),
    [address(0x30, hash(5), hash(6)), 9_000_000, blake2b256(datum)],
  ]
  const spent = [outputs[2]!, outputs[1]!, outputs[0]!]
  const mint = new Map<Cbor, Cbor>([
    [
      nativePolicy,
      new Map([
        [new Uint8Array([5]), -4],
        [new Uint8Array([4]), 9],
      ]),
    ],
  ])
  if (purpose === 'mint') mint.set(probeHash, new Map([[new Uint8Array(), 1]]))
  const certificates: Cbor[] = [
    [0, key(1)],
    [2, key(3), hash(9)],
    [3, hash(1), id(2), 5, 6, half, address(0xe0, hash(1)), [hash(1)], [], null],
    [4, hash(1), 300],
  ]
  if (!asAikenTakes) certificates.push([7, key(2), 2_000_000], [8, script('cert', 4), 2_000_000])
  if (third) {
    certificates.push(
      [9, key(1), [2]],
      [10, key(1), hash(2), [3]],
      [11, key(1), hash(2), 5],
      [12, key(1), [0, hash(3)], 6],
      [13, key(1), hash(2), [1, hash(3)], 7],
      [14, key(1), [1, hash(2)]],
      [15, key(1), anchor],
      [16, key(1), 8, null],
      [17, key(1), 9],
      [18, key(1), null],
    )
  }
  const body = new Map<Cbor, Cbor>([
    [0, { tag: 258, content: inputs }],
    [1, outputs],
    [2, 321_000],
    [3, 90_000_000],
    [4, certificates],
    [
      5,
      // Engines differ in the order of credentials of both kinds.
      purpose === 'reward'
        ? new Map<Cbor, Cbor>([[address(0xf0, probeHash), 0]])
        : new Map<Cbor, Cbor>([
            [address(0xe0, hash(7)), 12],
            [address(0xe0, hash(3)), 0],
            [address(0xe0, hash(1)), 5],
          ]),
    ],
    [8, 89_000_000],
    [9, mint],
    [14, [hash(9), hash(2)]],
    [18, [[id(4), 0]]],
  ])
  if (third) {
    const votes = new Map<Cbor, Cbor>([
      [
        [id(3), 1],
        [1, null],
      ],
      [
        [id(2), 7],
        [0, anchor],
      ],
    ])
    body.set(
      19,
      new Map<Cbor, Cbor>([
        [[4, hash(2)], votes],
        purpose === 'vote' ? [[3, probeHash], votes] : [[2, hash(2)], votes],
        [
          [0, hash(2)],
          new Map<Cbor, Cbor>([
            [
              [id(3), 1],
              [2, null],
            ],
          ]),
        ],
      ]),
    )
    const policy = purpose === 'propose' ? probeHash : null
    const account = address(0xe0, hash(1))
    const changes = new Map<Cbor, Cbor>([
      [
        18,
        new Map<Cbor, Cbor>([
          [0, [1, -2]],
          [1, [3, 4]],
        ]),
      ],
      [9, half],
      [19, [half, half]],
      [20, [5, 6]],
      [25, [half, half, half, half, half]],
      [0, 44],
    ])
    if (!asAikenTakes)
      body.set(20, [
        [1_000, account, [0, [id(1), 2], changes, policy], anchor],
        [1_000, account, [1, null, [10, 0]], anchor],
        [
          1_000,
          account,
          [
            2,
            new Map<Cbor, Cbor>([
              [address(0xe0, hash(3)), 1],
              [account, 2],
            ]),
            null,
          ],
          anchor,
        ],
        [1_000, account, [3, [id(1), 2]], anchor],
        [
          1_000,
          account,
          [
            4,
            null,
            [key(1), key(2)],
            new Map<Cbor, Cbor>([
              [key(5), 6],
              [key(8), 7],
            ]),
            half,
          ],
          anchor,
        ],
        [1_000, account, [6], anchor],
      ])
    body.set(21, 1_234)
    body.set(22, 5)
  }
  const places: { [each in RedeemerPurpose]: number } = {
    spend: 1,
    mint: 0,
    cert: certificates.findIndex((each) => Array.isArray(each) && each[0] === 8),
    reward: 0,
    vote: 1,
    propose: 0,
  }
  if (purpose === 'mint') places.mint = toHex(probeHash) < toHex(nativePolicy) ? 0 : 1
  const witnesses = new Map<Cbor, Cbor>([
    [1, [nativeScript]],
    [4, [{ raw: datum }, 7]],
    [
      5,
      new Map<Cbor, Cbor>([
        [
          [purposes.indexOf(purpose), places[purpose]],
          [{ raw: redeemer }, units],
        ],
      ]),
    ],
    [witness, [probe]],
  ])
  const writer = new CborWriter(8192).array(4)
  write(body, writer)
  write(witnesses, writer).boolean(true).null()
  const transaction = decodeTransaction(writer.toBytes())
  const utxos = new Map(
    [...inputs, [id(4), 0]].map((input, i) => {
      const [transactionId, index] = input as [Uint8Array, number]
      const output = decodeTransactionOutput(encode(i < 3 ? spent[i]! : outputs[3]!))
      return [`${toHex(transactionId)}#${index}`, output]
    }),
  )
  return { transaction, utxos }
}

const integer = (value: bigint): Term => ['con', { type: 'integer', value }]
const bytes = (value: Uint8Array): Term => ['con', { type: 'bytestring', value }]
const call = (name: Extract<Term, readonly ['builtin', unknown]>[1], ...args: Term[]): Term => [
  'apply',
  ['builtin', name],
  args,
]

const digits = bytes(new Uint8Array(Buffer.from('0123456789abcdef')))
const digit = (value: Term): Term => call('indexByteString', digits, value)

/** The hex digits of a hash from byte `x` on, where `f` is this function itself. */
const hexFrom: Term = [
  'lam',
  'f',
  [
    'lam',
    'x',
    [
      'force',
      [
        'apply',
        ['force', ['builtin', 'ifThenElse']],
        [
          call('lessThanInteger', 'x', integer(32n)),
          [
            'delay',
            call(
              'consByteString',
              digit(call('divideInteger', byteAt('x'), integer(16n))),
              call('consByteString', digit(call('modInteger', byteAt('x'), integer(16n))), [
                'apply',
                'f',
                ['f', call('addInteger', 'x', integer(1n))],
              ]),
            ),
          ],
          ['delay', bytes(new Uint8Array())],
        ],
      ],
    ],
  ],
]

function byteAt(place: Term): Term {
  return call('indexByteString', 'hash', place)
}

/**
 * A script that traces the hash of its last argument, the script context, and fails: so the contexts of
 * engines that return only traces can be compared. `before` counts the other arguments.
 */
function contextProbe(before: number): Uint8Array {
  const hash = call('blake2b_256', call('serialiseData', 'context'))
  const hex: Term = ['apply', ['lam', 'f', ['apply', 'f', ['f', integer(0n)]]], [hexFrom]]
  const traced: Term = [
    'apply',
    ['force', ['builtin', 'trace']],
    [call('decodeUtf8', ['apply', ['lam', 'hash', hex], [hash]]), ['con', { type: 'unit' }]],
  ]
  let program: Term = ['lam', 'context', ['apply', ['lam', 'traced', ['error']], [traced]]]
  for (let i = 0; i < before; i++) program = ['lam', `argument ${i}`, program]
  return flatProgram(program)
}

const slots = { zeroTime: 1_655_769_600_000n, zeroSlot: 86_400n, slotLength: 1000 }

/** Plutus V1 has no builtin that serializes its context; the vectors cover it. */
describeVectors(
  ['ledger-scenarios'],
  'script contexts (need the cost models of ledger-scenarios)',
  (scenarios) => {
    const parameters = scenarioParameters(scenarios, 'preprod-conway-v10', 10)
    const open = (program: URL, engine?: SecondOpinion) =>
      createEnginePool({
        threads: 1,
        memoryLimitMb: 256,
        queueLimit: 100,
        program,
        ...(engine && { workerData: { engine } }),
      })
    const cek = open(threadProgram)
    const scalus = open(secondOpinionProgram, 'scalus')
    const aiken = open(secondOpinionProgram, 'aiken')
    afterAll(() => Promise.all([cek, scalus, aiken].map((pool) => pool.close())))

    /** The hash of the script context that an engine builds, traced by the script. */
    async function shown(
      pool: EnginePool,
      ...[language, purpose, options]: Parameters<typeof richTransaction>
    ) {
      const { transaction, utxos } = richTransaction(language, purpose, options)
      const inputs = visibleInputs(resolve(transaction, utxos))
      const request = engineRequest(transaction, inputs, engineCostModels(parameters), slots, 10)
      const answer = await pool.run(request, 60_000)
      expect(answer).toMatchObject({ kind: 'failed', logs: [expect.stringMatching(/^[0-9a-f]{64}$/)] })
      return answer.kind === 'failed' ? answer.logs[0] : undefined
    }

    const all: [Shown, RedeemerPurpose][] = [
      ...purposes.slice(0, 4).map((purpose): [Shown, RedeemerPurpose] => ['PlutusV2', purpose]),
      ...purposes.map((purpose): [Shown, RedeemerPurpose] => ['PlutusV3', purpose]),
    ]

    test.each(all)('%s, %s: byte for byte as in scalus', async (...what) => {
      expect(await shown(cek, ...what)).toBe(await shown(scalus, ...what))
    })

    test.each(all.filter(([, purpose]) => !['cert', 'propose'].includes(purpose)))(
      '%s, %s: byte for byte as in Aiken',
      async (...what) => {
        const options = { asAikenTakes: true }
        expect(await shown(cek, ...what, options)).toBe(await shown(aiken, ...what, options))
      },
    )
  },
)
