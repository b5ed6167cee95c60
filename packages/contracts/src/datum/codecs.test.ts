import { decodeHeader, encodeHeader, genesisHeaderHash, type Header, headerHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  decodeAnyData,
  decodePlutusData,
  encodePlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isContractsError } from '../errors.js'
import { drawing, encodedAnyhow } from '../test/fraud/draw.js'
import { serialised } from './bridge.js'
import {
  decodeRegistryAction,
  decodeRegistryDatum,
  effectiveTime,
  encodeRegistryAction,
  encodeRegistryDatum,
  endOfTurn,
  operatorInTurn,
  type RegistryAction,
  type RegistryDatum,
} from './registry.js'
import {
  blockTokenName,
  type ConfirmedState,
  decodeBlockDatum,
  decodeQueueAction,
  decodeRootDatum,
  encodeBlockDatum,
  encodeQueueAction,
  encodeQueueSpend,
  encodeRefundDatum,
  encodeRootDatum,
  headerHashOfToken,
  type QueueAction,
  type QueueOutput,
  rootTokenName,
  surveyQueue,
} from './state-queue.js'

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)

const header: Header = {
  prevUtxosRoot: filled(32, 1),
  utxosRoot: filled(32, 2),
  transactionsRoot: filled(32, 3),
  depositsRoot: filled(32, 4),
  withdrawalsRoot: filled(32, 5),
  startTime: 1_700_000_000_000n,
  endTime: 1_700_000_060_000n,
  prevHeaderHash: genesisHeaderHash(),
  operatorVkey: filled(28, 6),
  blockVersion: 1n,
}
const state: ConfirmedState = {
  headerHash: filled(28, 7),
  prevHeaderHash: filled(28, 8),
  utxoRoot: filled(32, 9),
  startTime: 0n,
  endTime: 23n,
  blockVersion: 24n,
}
const link = filled(28, 10)

/** By hand from RFC 8949 and the ledger's CDDL of Plutus data: constructors are tags from 121. */
const bytes = (length: number, byte: string) => `58${length.toString(16)}${byte.repeat(length)}`
const headerHex = [
  'd8799f',
  ...['01', '02', '03', '04', '05'].map((byte) => bytes(32, byte)),
  '1b0000018bcfe56800',
  '1b0000018bcfe65260',
  bytes(28, '00'),
  bytes(28, '06'),
  '01ff',
].join('')
const stateHex = `d8799f${bytes(28, '07')}${bytes(28, '08')}${bytes(32, '09')}00171818ff`
const linkHex = `d8799f${bytes(28, '0a')}ff`

describe('golden bytes', () => {
  it('writes the header', () => {
    expect(toHex(encodeHeader(header))).toBe(headerHex)
    expect(toHex(headerHash(header))).toBe('d0b6903fb5f01578f7de0669985ffd373ed57c3d7b806c75c18150e2')
  })

  it('writes the datums of elements', () => {
    expect(toHex(encodeRootDatum({ state, link }))).toBe(`d8799f${stateHex}${linkHex}ff`)
    expect(toHex(encodeRootDatum({ state }))).toBe(`d8799f${stateHex}d87a80ff`)
    expect(toHex(encodeBlockDatum({ header, link }))).toBe(`d8799f${headerHex}${linkHex}ff`)
    expect(toHex(encodeBlockDatum({ header }))).toBe(`d8799f${headerHex}d87a80ff`)
  })

  it('writes the datum of the registry', () => {
    const operators = [
      { vkey: filled(28, 1), bond: 500_000_000n, activeFrom: 255n },
      { vkey: filled(28, 2), bond: 1n, activeFrom: 0n, activeUntil: 256n },
    ]
    const first = `d8799f${bytes(28, '01')}1a1dcd650018ffd87a80ff`
    const second = `d8799f${bytes(28, '02')}0100d8799f190100ffff`
    const queue = bytes(28, '0a')
    expect(toHex(encodeRegistryDatum({ operators: [], queue: link, running: false }))).toBe(
      `d8799f80${queue}d87980ff`,
    )
    expect(toHex(encodeRegistryDatum({ operators, queue: link, running: true }))).toBe(
      `d8799f9f${first}${second}ff${queue}d87a80ff`,
    )
  })

  it('writes redeemers', () => {
    const queue = (['init', 'deinit', 'commit', 'merge'] as const).map((kind) =>
      toHex(encodeQueueAction({ kind })),
    )
    expect(queue).toEqual(['d87980', 'd87a80', 'd87b80', 'd87c80'])
    expect([encodeQueueSpend(), encodeQueueSpend(100)].map(toHex)).toEqual(['00', '1864'])
    expect(toHex(encodeRefundDatum(link))).toBe(bytes(28, '0a'))
    const remove = encodeQueueAction({ kind: 'remove', headerHash: link, approach: 'already-slashed' })
    expect(toHex(remove)).toBe(`d87d9f${bytes(28, '0a')}d87b80ff`)
    const decided = encodeQueueAction({ kind: 'remove', headerHash: link, approach: 'by-administrator' })
    expect(toHex(decided)).toBe(`d87d9f${bytes(28, '0a')}d87c80ff`)
    expect(toHex(encodeQueueAction({ kind: 'prune', positions: [1, 24, 0] }))).toBe('d87e9f9f01181800ffff')
    expect(toHex(encodeRegistryAction({ kind: 'init' }))).toBe('d87980')
    expect(toHex(encodeRegistryAction({ kind: 'release', operator: link }))).toBe(
      `d87d9f${bytes(28, '0a')}ff`,
    )
    expect(toHex(encodeRegistryAction({ kind: 'set-queue', running: false }))).toBe('d87f9fd87980ff')
    expect(toHex(encodeRegistryAction({ kind: 'set-queue', running: true }))).toBe('d87f9fd87a80ff')
    const slash = encodeRegistryAction({ kind: 'slash', operator: link, approach: 'retired' })
    expect(toHex(slash)).toBe(`d87e9f${bytes(28, '0a')}d87a80ff`)
  })

  it('names tokens', () => {
    expect(Buffer.from(rootTokenName('RATATOSK')).toString()).toBe('RATATOSK_CONFIRMED_STATE')
    expect(toHex(blockTokenName(link))).toBe(`4d424c43${'0a'.repeat(28)}`)
    expect(headerHashOfToken(blockTokenName(link))).toEqual(link)
    expect(headerHashOfToken(rootTokenName('RATATOSK'))).toBeUndefined()
    expect(headerHashOfToken(Buffer.concat([Buffer.from('MBLD'), link]))).toBeUndefined()
  })
})

const hash = fc.uint8Array({ minLength: 28, maxLength: 28 })
const root = fc.uint8Array({ minLength: 32, maxLength: 32 })
const integer = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })
const anyHeader: fc.Arbitrary<Header> = fc.record({
  prevUtxosRoot: root,
  utxosRoot: root,
  transactionsRoot: root,
  depositsRoot: root,
  withdrawalsRoot: root,
  startTime: integer,
  endTime: integer,
  prevHeaderHash: hash,
  operatorVkey: hash,
  blockVersion: integer,
})
const anyLink = fc.option(hash, { nil: undefined }).map((value) => (value ? { link: value } : {}))
const slashing = fc.constantFrom('active', 'retired')
const approach = fc.oneof(slashing, fc.constantFrom('already-slashed', 'by-administrator'))

describe('decoding what was encoded', () => {
  it('returns headers and the datums of blocks', () => {
    fc.assert(
      fc.property(anyHeader, anyLink, (header, link) => {
        expect(decodeHeader(encodeHeader(header))).toEqual(header)
        expect(decodeBlockDatum(encodeBlockDatum({ header, ...link }))).toEqual({ header, ...link })
      }),
    )
  })

  it('returns the datum of the root', () => {
    const anyState = fc.record({
      headerHash: hash,
      prevHeaderHash: hash,
      utxoRoot: root,
      startTime: integer,
      endTime: integer,
      blockVersion: integer,
    })
    fc.assert(
      fc.property(anyState, anyLink, (state, link) => {
        expect(decodeRootDatum(encodeRootDatum({ state, ...link }))).toEqual({ state, ...link })
      }),
    )
  })

  it('returns the datum of the registry', () => {
    const operator = fc
      .tuple(
        fc.record({ vkey: hash, bond: integer, activeFrom: integer }),
        fc.option(integer, { nil: undefined }),
      )
      .map(([entry, activeUntil]) => (activeUntil === undefined ? entry : { ...entry, activeUntil }))
    fc.assert(
      fc.property(fc.array(operator), hash, fc.boolean(), (operators, queue, running) => {
        const datum = { operators, queue, running }
        expect(decodeRegistryDatum(encodeRegistryDatum(datum))).toEqual(datum)
      }),
    )
  })

  it('returns redeemers', () => {
    const queue: fc.Arbitrary<QueueAction> = fc.oneof(
      fc.record({ kind: fc.constantFrom('init', 'deinit', 'commit', 'merge') }),
      fc.record({ kind: fc.constant('remove'), headerHash: hash, approach }),
      fc.record({ kind: fc.constant('prune'), positions: fc.array(fc.nat()) }),
    )
    const registry: fc.Arbitrary<RegistryAction> = fc.oneof(
      fc.record({ kind: fc.constantFrom('init', 'deinit') }),
      fc.record({ kind: fc.constantFrom('register', 'retire', 'release'), operator: hash }),
      fc.record({ kind: fc.constant('set-queue'), running: fc.boolean() }),
      fc.record({ kind: fc.constant('slash'), operator: hash, approach: slashing }),
    )
    fc.assert(
      fc.property(queue, registry, (queueAction, registryAction) => {
        expect(decodeQueueAction(encodeQueueAction(queueAction))).toEqual(queueAction)
        expect(decodeRegistryAction(encodeRegistryAction(registryAction))).toEqual(registryAction)
      }),
    )
  })
})

describe('decoding other encodings', () => {
  it('accepts definite lengths and chunked byte strings', () => {
    const definite = headerHex.replace('d8799f', 'd8798a').slice(0, -2)
    expect(decodeHeader(fromHex(definite))).toEqual(header)
    const chunked = headerHex.replace(bytes(32, '01'), `5f50${'01'.repeat(16)}50${'01'.repeat(16)}ff`)
    expect(decodeHeader(fromHex(chunked))).toEqual(header)
  })

  it('accepts constructors in their general form, and bignums for small numbers', () => {
    const general = headerHex.replace('d8799f', 'd86682009f')
    expect(decodeHeader(fromHex(general))).toEqual(header)
    expect(decodeHeader(fromHex(`${general.replace('d86682', 'd8669f')}ff`))).toEqual(header)
    expect(decodeHeader(fromHex(headerHex.replace(/01ff$/, 'c24101ff')))).toEqual(header)
    expect(decodeHeader(fromHex(headerHex.replace(/01ff$/, 'c25f40420001ffff')))).toEqual(header)
    expect(decodePlutusData(fromHex('c35f4100ff'))).toBe(-1n)
    expect(decodePlutusData(fromHex('c240'))).toBe(0n)
  })

  it.each([
    ['nothing', ''],
    ['an integer', '01'],
    ['trailing bytes', `${headerHex}00`],
    ['a truncated header', headerHex.slice(0, -2)],
    ['a short root', headerHex.replace(bytes(32, '01'), bytes(31, '01'))],
    ['another constructor', headerHex.replace('d879', 'd87a')],
    ['an eleventh field', headerHex.replace(/ff$/, '00ff')],
    ['a constructor’s index beyond the protocol', headerHex.replace('d8799f', 'd86682079f')],
    ['a constructor of three parts', headerHex.replace('d8799f', 'd86683009f')],
    ['a map', headerHex.replace(bytes(32, '01'), 'a0')],
    ['a text', headerHex.replace(bytes(32, '01'), '60')],
    ['another tag', headerHex.replace('d879', 'd818')],
    ['deeply nested lists', '81'.repeat(5000)],
  ])('refuses %s', (_, hex) => {
    expect(() => decodeHeader(fromHex(hex))).toThrow(PlutusDataError)
    expect(() => decodeHeader(fromHex(hex))).toThrow(
      expect.objectContaining({ code: 'PLUTUS_DATA_MALFORMED' }),
    )
  })

  it.each([
    'd87f80',
    'd8799f01ff',
    'd87d80',
    `d87d9f${bytes(28, '0a')}d87d80ff`,
    `d87d9f${bytes(27, '0a')}d87a80ff`,
  ])('refuses %s as an action', (hex) => {
    expect(() => decodeQueueAction(fromHex(hex))).toThrow(PlutusDataError)
    expect(() => decodeRegistryAction(fromHex(hex.replace('d87d', 'd87e')))).toThrow(PlutusDataError)
  })

  it.each(['d87b80', 'd87c80'])('refuses to slash by an approach that does not slash: %s', (approach) => {
    expect(() => decodeRegistryAction(fromHex(`d87e9f${bytes(28, '0a')}${approach}ff`))).toThrow(
      PlutusDataError,
    )
  })

  it('throws nothing but PlutusDataError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (cbor) => {
        try {
          expect(decodePlutusData(encodePlutusData(decodePlutusData(cbor)))).toEqual(decodePlutusData(cbor))
        } catch (error) {
          expect(error).toBeInstanceOf(PlutusDataError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

const queue = filled(28, 10)

describe('turns', () => {
  const entry = (byte: number) => ({ vkey: filled(28, byte), bond: 1n, activeFrom: 0n })
  const operators = [entry(1), entry(2), entry(3)]
  const inTurn = (of: RegistryDatum['operators'], ...times: bigint[]) =>
    times.map((time) => operatorInTurn({ operators: of, queue, running: true }, time, 60n)?.vkey[0])

  it('follow the order of the registry', () => {
    expect(inTurn(operators, 0n, 59n, 60n, 120n, 180n)).toEqual([1, 1, 2, 3, 1])
    expect(inTurn([], 0n)).toEqual([undefined])
  })

  it('count an operator from the start of one turn to the start of another', () => {
    const changing = [{ ...entry(1), activeFrom: 120n }, entry(2), { ...entry(3), activeUntil: 240n }]
    // Turns 0 and 1 have operators 2 and 3; turns 2 and 3 all three; from turn 4 on 1 and 2.
    expect(inTurn(changing, 0n, 60n, 120n, 180n, 240n, 300n)).toEqual([2, 3, 3, 1, 1, 2])
  })

  it('end where the next one begins', () => {
    expect([0n, 59n, 60n].map((time) => endOfTurn(time, 60n))).toEqual([60n, 60n, 120n])
  })

  it('keep their operators until the turn after next when an operator comes or goes', () => {
    expect(effectiveTime({ running: true }, 60n, 120n, 60n)).toBe(180n)
    expect(effectiveTime({ running: true }, 60n, 121n, 60n)).toBe(240n)
  })

  it('change at once while there is no queue', () => {
    expect(effectiveTime({ running: false }, 119n, 130n, 60n)).toBe(60n)
  })
})

describe('survey queue', () => {
  const rootName = rootTokenName('RATATOSK')
  const state = {
    headerHash: genesisHeaderHash(),
    prevHeaderHash: genesisHeaderHash(),
    utxoRoot: new Uint8Array(32),
    startTime: 0n,
    endTime: 0n,
    blockVersion: 1n,
  }

  function headerAt(place: number): Header {
    return {
      prevUtxosRoot: new Uint8Array(32),
      utxosRoot: new Uint8Array(32),
      transactionsRoot: new Uint8Array(32),
      depositsRoot: new Uint8Array(32),
      withdrawalsRoot: new Uint8Array(32),
      startTime: BigInt(place),
      endTime: BigInt(place + 1),
      prevHeaderHash: genesisHeaderHash(),
      operatorVkey: new Uint8Array(28),
      blockVersion: 1n,
    }
  }

  const hashAt = (place: number) => headerHash(headerAt(place))
  const linkTo = (place: number, length: number) => (place < length ? { link: hashAt(place) } : {})

  /** A sound queue: the root, then the blocks in list order. */
  const queueOf = (length: number): QueueOutput[] => [
    { tokenName: rootName, datum: encodeRootDatum({ state, ...linkTo(0, length) }) },
    ...Array.from({ length }, (_, place) => ({
      tokenName: blockTokenName(hashAt(place)),
      datum: encodeBlockDatum({ header: headerAt(place), ...linkTo(place + 1, length) }),
    })),
  ]

  describe('surveyQueue', () => {
    it.each([0, 1, 5])('follows the links of %s blocks, for outputs in any order', (length) => {
      const outputs = queueOf(length)
      for (const given of [outputs, outputs.toReversed()]) {
        const { roots, blocks, strays, fault } = surveyQueue(given, rootName)
        expect(fault).toBeUndefined()
        expect(strays).toEqual([])
        expect(roots).toEqual([{ output: outputs[0], datum: expect.objectContaining({ state }) }])
        expect(blocks.map(({ output }) => output)).toEqual(outputs.slice(1))
        expect(blocks.map(({ datum }) => datum.header)).toEqual(blocks.map((_, place) => headerAt(place)))
        expect(blocks.map((block) => block.headerHash)).toEqual(blocks.map((_, place) => hashAt(place)))
      }
    })

    const [root, first, second, third] = queueOf(3) as [QueueOutput, QueueOutput, QueueOutput, QueueOutput]
    const copy = { ...first }
    const loop = { ...third, datum: first.datum }
    const unnamed = { ...first, tokenName: Uint8Array.of(1) }

    it.each([
      ['no root', [first, second, third], [], [first, second, third], '0 roots instead of 1'],
      ['two roots', [root, root, first], [], [first], '2 roots instead of 1'],
      ['a missing block', [root, first, third], [first], [third], 'linked to but missing'],
      ['a loop', [root, first, second, loop], [first, second, loop], [], 'linked to but missing'],
      ['a block of another queue', [...queueOf(0), first], [], [first], 'no link leads to 1 of the blocks'],
      ['a block twice', [root, first, copy, second, third], [first, second, third], [copy], 'exists twice'],
      [
        'a token with an unknown name',
        [...queueOf(0), unnamed],
        [],
        [unnamed],
        'neither the root nor a block',
      ],
    ])('reports %s as CONTRACTS_BROKEN_QUEUE', (_, outputs, blocks, strays, message) => {
      const survey = surveyQueue<QueueOutput>(outputs, rootName)
      expect(survey.blocks.map(({ output }) => output)).toEqual(blocks)
      expect(survey.strays).toEqual(strays)
      expect(isContractsError(survey.fault)).toBe(true)
      expect(survey.fault).toMatchObject({
        code: 'CONTRACTS_BROKEN_QUEUE',
        message: expect.stringContaining(message),
      })
    })

    it.each([
      ['a block with the datum of a root', [...queueOf(0), { ...first, datum: root.datum }]],
      ['a block without a datum', [...queueOf(0), { tokenName: first.tokenName }]],
      ['a root without a datum', [{ tokenName: rootName }]],
    ])('reports %s as PLUTUS_DATA_MALFORMED', (_, outputs: readonly QueueOutput[]) => {
      const { blocks, strays, fault } = surveyQueue(outputs, rootName)
      expect(blocks).toEqual([])
      expect(strays).toEqual([outputs.at(-1)])
      expect(fault).toMatchObject({ code: 'PLUTUS_DATA_MALFORMED' })
    })
  })
})

describe('datums in every encoding', () => {
  const encodings = Number(process.env.RATATOSK_ENCODINGS ?? 200)
  const link = new Uint8Array(28).fill(7)
  const state = {
    headerHash: link,
    prevHeaderHash: new Uint8Array(28),
    utxoRoot: new Uint8Array(32).fill(8),
    startTime: 0n,
    endTime: 2n ** 40n,
    blockVersion: 1n,
  }
  const operators = [
    { vkey: link, bond: 500_000_000n, activeFrom: 0n },
    { vkey: link, bond: 2n ** 70n, activeFrom: 24n, activeUntil: 2n ** 64n },
  ]

  // The scripts take each of these datums by its data, which `serialised` writes.
  it.each([
    ['a root', { state, link }, encodeRootDatum, decodeRootDatum],
    ['an empty root', { state }, encodeRootDatum, decodeRootDatum],
    ['a block', { header, link }, encodeBlockDatum, decodeBlockDatum],
    ['the last block', { header }, encodeBlockDatum, decodeBlockDatum],
    ['a registry', { operators, queue: link, running: true }, encodeRegistryDatum, decodeRegistryDatum],
  ])(`reads %s in each of ${encodings} encodings`, (_what, datum, encode, decode) => {
    const draw = drawing(1)
    const canonical = encode(datum as never)
    for (let i = 0; i < encodings; i++) {
      const cbor = encodedAnyhow(decodeAnyData(canonical), draw)
      expect(serialised(cbor), toHex(cbor)).toEqual(canonical)
      expect(decode(cbor), toHex(cbor)).toEqual(datum)
    }
  })
})
