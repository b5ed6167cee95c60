import { blockVersion, genesisHeaderHash } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type ConfirmedState,
  encodeQuestion,
  encodeRegistryDatum,
  encodeRootDatum,
  type RegisteredOperator,
  type SummonsQuestion,
} from '@ratatosk/contracts'
import { type SharedReads, shareReads } from '@ratatosk/layer1'
import { blake2b256, decodeAddress, splitUnit, type Utxo } from '@ratatosk/ledger'
import type { Contracts } from '@ratatosk/protocol'
import type { QuestionAnswer } from '@ratatosk/state-queue/operators'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadContext } from '../context.js'
import { contractsOf } from '../layer1/settlement.js'
import { readSettings } from '../settings/read.js'
import { questionsOf, registryOf } from './operators.js'

let contracts: Contracts
beforeAll(async () => {
  contracts = contractsOf(await loadContext(readSettings({ LOG_LEVEL: 'silent' }), {}))
})

const hash = (byte: number) => new Uint8Array(28).fill(byte)

function output(index: number, address: Uint8Array, unit: string, datum: Uint8Array): Utxo {
  const { policy, name } = splitUnit(unit)
  return {
    reference: { transactionId: new Uint8Array(32), index },
    output: {
      bytes: new Uint8Array(),
      format: 'map',
      address: decodeAddress(address),
      value: { lovelace: 3_000_000n, assets: new Map([[policy, new Map([[name, 1n]])]]) },
      datum: { kind: 'inline', data: datum },
    },
  }
}

/** Shared reads of a layer 1 with these outputs. */
function readsOf(utxos: readonly Utxo[]): SharedReads & { readonly asked: unknown[] } {
  const asked: unknown[] = []
  const read = async (...call: unknown[]) => {
    asked.push(call)
    return utxos
  }
  const tip = async () => ({ slot: 0n, hash: '', height: 0 })
  const utxosAsOf = async (...call: unknown[]) => ({ utxos: await read(...call), slot: 0n })
  return { asked, ...shareReads({ utxosAt: read, utxosAsOf, utxosByUnit: read, utxosByPolicy: read, tip }) }
}

describe('operators', () => {
  const turnLength = () => contracts.parameters.turnLength
  const read = (operators: readonly RegisteredOperator[], time: bigint) => {
    const { registry, queue } = contracts.scripts
    const datum = encodeRegistryDatum({ operators, queue: queue.script.hash, running: true })
    const reads = readsOf([output(0, registry.address, registry.unit, datum)])
    return registryOf({ reads, contracts }, () => Number(time) + 0.5).read()
  }
  const first = { vkey: hash(1), bond: 5n, activeFrom: 0n }
  const second = { vkey: hash(2), bond: 6n, activeFrom: 0n }

  test('take turns in the order of the registry', async () => {
    const { releaseDelay, maxOperators } = contracts.parameters
    const until = 40n * turnLength()
    const view = await read([first, { ...second, activeUntil: until }], 2n * turnLength())
    expect(view).toEqual({
      operators: [
        { operatorKey: hash(1), bond: 5n, activeFrom: 0n },
        {
          operatorKey: hash(2),
          bond: 6n,
          activeFrom: 0n,
          activeUntil: until,
          releaseAt: until + releaseDelay,
        },
      ],
      inTurn: hash(1),
      next: hash(2),
      turnEndsAt: 3n * turnLength(),
      turnLength: turnLength(),
      maxOperators: Number(maxOperators),
      permissioned: true,
    })
    expect(await read([first, second], 4n * turnLength() - 1n)).toMatchObject({
      inTurn: hash(2),
      next: hash(1),
    })
  })

  test('count only from the start of a turn on', async () => {
    const later = { ...first, activeFrom: 5n * turnLength() }
    const before = await read([later], 4n * turnLength())
    expect(before.inTurn).toBeUndefined()
    expect(before.next).toEqual(hash(1))
  })

  test('may take over some time after the end of the last block, or of the confirmed state', async () => {
    const { registry, queue } = contracts.scripts
    const datum = encodeRegistryDatum({ operators: [first], queue: queue.script.hash, running: true })
    const state: ConfirmedState = {
      headerHash: genesisHeaderHash(),
      prevHeaderHash: genesisHeaderHash(),
      utxoRoot: new Uint8Array(32),
      startTime: 0n,
      endTime: 70_000n,
      blockVersion,
    }
    const root = output(1, queue.address, queue.unit, encodeRootDatum({ state }))
    const reads = readsOf([output(0, registry.address, registry.unit, datum), root])
    expect(await registryOf({ reads, contracts }, () => 7).read()).toMatchObject({ takeOverAt: 85_000n })
  })

  test('are none before the registry is initialised', async () => {
    const view = await registryOf({ reads: readsOf([]), contracts }, () => 7).read()
    expect(view).toMatchObject({ operators: [], turnEndsAt: turnLength() })
    expect([view.inTurn, view.next]).toEqual([undefined, undefined])
  })
})

describe('questions', () => {
  const question: SummonsQuestion = {
    kind: 'subtree',
    headerHash: hash(7),
    root: 1,
    key: new Uint8Array(33),
    hash: new Uint8Array(32),
    deadline: 9n,
    refund: hash(8),
  }
  const asked = (index: number, changes: Partial<SummonsQuestion> = {}) => {
    const { policy, address } = contracts.summons!
    const datum = encodeQuestion({ ...question, ...changes })
    return output(index, address, policy + toHex(blake2b256(datum)), datum)
  }

  test('are read at the address of the summons, a piece at a time', async () => {
    const { policy, address, addressText } = contracts.summons!
    const stray = output(1, address, `${policy}${'00'.repeat(32)}`, fromHex('d87980'))
    const reads = readsOf([
      asked(0),
      stray,
      asked(2, { kind: 'chunk', root: 2, key: new Uint8Array(4) }),
      asked(3, { root: 4 }),
      asked(4, { root: 9 }),
      ...Array.from({ length: 100 }, (_, place) => asked(5 + place, { deadline: BigInt(place) })),
    ])
    const pieces: (readonly QuestionAnswer[])[] = []
    for await (const piece of questionsOf({ reads, contracts })!.read()) pieces.push(piece)
    expect(pieces.map(({ length }) => length)).toEqual([48, 50, 5])
    expect(pieces.flat().slice(0, 3)).toEqual([
      {
        question: `${'00'.repeat(32)}#0`,
        headerHash: hash(7),
        kind: 'subtree',
        root: 'utxosRoot',
        key: new Uint8Array(33),
        deadline: 9n,
        bond: 3_000_000n,
      },
      expect.objectContaining({ question: `${'00'.repeat(32)}#2`, kind: 'chunk', root: 'transactionsRoot' }),
      expect.objectContaining({ question: `${'00'.repeat(32)}#3`, root: 'withdrawalsRoot' }),
    ])
    expect(reads.asked).toEqual([[addressText, { policy }]])
  })

  test('are not read where the contracts have no summons', async () => {
    const settings = readSettings({ LOG_LEVEL: 'silent', VERDICT_POLICIES: 'none' })
    const without = contractsOf(await loadContext(settings, {}))
    expect(questionsOf({ reads: readsOf([]), contracts: without })).toBeUndefined()
  })
})
