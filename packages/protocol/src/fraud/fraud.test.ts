import { blockVersion, type Header, isBlockError, judgeBlock } from '@ratatosk/block'
import { CborWriter, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  ChunkFlaw,
  LedgerFraud,
  type ProvableRules,
  TransactionFraud,
  transactionFraudScript,
  type VerdictPolicyName,
  verdictPolicies,
  WitnessFraud,
} from '@ratatosk/contracts'
import {
  decodeOutputReference,
  decodeTransactionOutput,
  outputReferenceKey,
  slotToTime,
} from '@ratatosk/ledger'
import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { openContracts, publishScripts, referenceScriptsOf } from '../contracts.js'
import { begin, bond, commit, contracts, evaluator, keys, openScene } from '../test/protocol-scene.js'
import { accuse } from './accused-block.js'
import { findFraud, type ProvenFraud } from './find-fraud.js'
import { createTries, removeFraudulentBlock } from './remove-fraudulent-block.js'
import { firstFound, smallestFirst, step } from './smallest-proof.js'
import { lies } from './test/lies/index.js'
import { bridgedPolicy, ruleLies } from './test/lies/rule-lies.js'
import { accusation, blockOf, type Committed, operator, type Story, tellStory } from './test/lying-blocks.js'
import { ruleRows } from './test/rules.js'

describe('lies', () => {
  const frauds = {
    ledger: Object.keys(LedgerFraud)
      .filter((fraud) => fraud !== 'wrongChunk')
      .concat(Object.keys(ChunkFlaw).map((flaw) => `wrongChunk: ${flaw}`)),
    transaction: Object.keys(TransactionFraud),
    witness: Object.keys(WitnessFraud),
  } satisfies Record<VerdictPolicyName, readonly string[]>

  let opened: OpenStory
  beforeAll(async () => {
    opened = await openStory()
  })

  it.each(Object.keys(verdictPolicies) as VerdictPolicyName[])(
    'tells every fraud of the policy %s',
    (policy) => {
      const told = lies.filter((lie) => lie.policy === policy).map(({ fraud }) => fraud)
      expect(told.toSorted()).toEqual(frauds[policy].toSorted())
    },
  )

  it.each(lies)('the smallest proof shows $fraud where an operator says $what', async ({ tell, ...lie }) => {
    const found = await opened.find(tell(opened.story))
    const proof = found?.proof
    const fraud = proof && 'flaw' in proof ? `${proof.fraud}: ${proof.flaw.flaw}` : proof?.fraud
    expect({ policy: found?.policy, fraud }).toEqual({
      policy: lie.policy,
      fraud: lie.provenAs?.fraud ?? lie.fraud,
    })
  })
})

describe('rules', () => {
  let opened: OpenStory
  beforeAll(async () => {
    opened = await openStory()
  })
  const told: Readonly<Record<string, (story: Story) => Committed>> = {
    ...Object.fromEntries(lies.map(({ what, tell }) => [what, tell])),
    ...ruleLies,
  }
  const rows = Object.entries(ruleRows).flatMap(([rule, row]) => ('lie' in row ? [{ rule, ...row }] : []))

  /** The rules that the first refused transaction breaks; undefined if the block keeps the rules. */
  async function judged({
    transactions,
    outputs,
    bridge,
    deposits,
  }: Committed): Promise<readonly string[] | undefined> {
    const cbor = new Map(
      Array.from(outputs.before, ([key, output]) => [
        outputReferenceKey(decodeOutputReference(fromHex(key))),
        output,
      ]),
    )
    const before = {
      get(key: string) {
        const output = cbor.get(key)
        return output && decodeTransactionOutput(output)
      },
    }
    const { interval, rules } = opened
    try {
      const bridged = new Set(bridge === undefined ? [] : [toHex(bridgedPolicy)])
      const given = { ...rules, evaluator, bridge, bridged }
      await judgeBlock(transactions, { ...interval, ...operator }, before, given, undefined, deposits)
      return undefined
    } catch (error) {
      if (!isBlockError(error) || error.code !== 'BLOCK_INVALID') throw error
      return (error.failures ?? []).map(({ predicate }) => predicate)
    }
  }

  describe('rules of blocks', () => {
    it.each(rows)('$rule: an operator says $lie', async ({ rule, lie, besides = [], ...row }) => {
      const { story, find } = opened
      const block = told[lie]!(story)
      const root = /^(transactions|utxos|deposits|withdrawals)_root/.exec(rule)?.[1]
      const predicates = await judged(block)
      if (root) {
        const name = `${root}Root` as keyof Committed['roots']
        // Layer 1 has no deposit.
        const honest = blockOf(block.transactions, {
          outputs: block.outputs.before,
          ...(block.bridge && { bridge: block.bridge }),
        })
        expect(predicates).toBeUndefined()
        expect(equalBytes(block.roots[name], honest.roots[name])).toBe(false)
      } else {
        const predicate = /^[A-Z]\w+/.exec(rule)?.[0]
        expect(predicates?.toSorted()).toEqual([...(predicate ? [predicate] : []), ...besides].toSorted())
      }
      const fraud = (await find(block))?.proof.fraud
      if (row.foundAs) expect(fraud).toBe(row.foundAs)
      else if ('claims' in row) expect(row.claims).toContain(fraud)
      else expect(fraud).toBeUndefined()
    })

    it('tells every lie about a rule', () => {
      expect(Object.keys(ruleLies).filter((what) => !rows.some(({ lie }) => lie === what))).toEqual([])
    })
  })
})

describe('smallest proof', () => {
  const encode = (length: number) => new Uint8Array(length)

  test('finds the smallest of the first proofs, then the others, and then those that follow', () => {
    const lengths = Array.from({ length: 40 }, (_, place) => 100 - place)
    const found = [...smallestFirst(lengths, encode)].map((each) => each?.map(({ proof }) => proof))
    expect(found.map((each) => each?.[0])).toEqual([85, 69, 61])
    expect(found.map((each) => each?.length)).toEqual([16, 16, 8])
    expect(found.flatMap((each) => each?.toReversed() ?? [])).toEqual(lengths)
    expect(firstFound(smallestFirst(lengths, encode))?.redeemer).toHaveLength(85)
  })

  test('passes the steps of a search on, also if it finds nothing', () => {
    expect([...smallestFirst([step, step], encode)]).toEqual([step, step])
    expect(firstFound(smallestFirst([step, 3, step], encode))?.proof).toBe(3)
    expect(firstFound(smallestFirst([step], encode))).toBeUndefined()
  })

  test('holds no fraud back for more than 4,096 steps', () => {
    let steps = 0
    function* search() {
      yield 3
      yield 2
      for (; steps < 10_000; steps++) yield step
      yield 1
    }
    expect(firstFound(smallestFirst(search(), encode))?.proof).toBe(2)
    expect(steps).toBe(4095)
  })
})

describe('transaction fraud', () => {
  /** Spends an output of 5 ada and pays another amount. */
  function payment(index: number, lovelace: bigint): Uint8Array {
    const writer = new CborWriter(512).array(4).map(3)
    writer.uint(0).array(1).array(2).bytes(new Uint8Array(32).fill(0xaa)).uint(index)
    writer.uint(1).array(1).map(2).uint(0).bytes(keys.address.bytes).uint(1).uint(lovelace)
    return writer.uint(2).uint(300_000n).map(0).boolean(true).null().toBytes()
  }

  it('takes the bond of an operator whose block makes lovelace, in one transaction', async () => {
    const first = await openScene()
    const rules = { parameters: await first.layer1.parameters(), networkId: 0, slots: first.slots }
    const story = await tellStory(rules.parameters, first.slots)
    await first.devnet.close()
    const policy = transactionFraudScript(rules)
    const own = openContracts({ ...contracts.parameters, verdictPolicies: [policy] }, 0)
    const scene = await openScene(own)
    const { devnet, slots, queue, registry, run, otherWallet } = scene
    const block = blockOf([...story.transactions, payment(30, 50_000_000n)])
    const scripts = await begin(scene, true, block.roots.prevUtxosRoot)
    const { produced } = await run(publishScripts(own, [policy]))
    const referenceScripts = referenceScriptsOf(own, [...scripts, ...produced])
    const { header } = await commit(scene, referenceScripts, block.roots)
    const element = (await queue()).blocks[0]!.utxo

    const judgement = { parameters: rules.parameters, slots, slot: devnet.currentSlot(), evaluator }
    const wanted = {
      queue: await queue(),
      registry: await registry(),
      referenceScripts,
      block: await accuse(accusation(block, header)),
    }
    expect(await removeFraudulentBlock(own, wanted, judgement)).toBeUndefined()
    const removal = await removeFraudulentBlock(own, { ...wanted, rules }, judgement)
    expect(removal).toMatchObject({ policy: 'transaction', fraud: 'valueNotPreserved' })

    const before = (await otherWallet.balance()).lovelace
    const built = await run(removal!.draft, otherWallet)
    expect((await otherWallet.balance()).lovelace - before + built.fee).toBe(
      bond + element.output.value.lovelace,
    )
    expect((await registry()).datum.operators).toEqual([])
    expect((await queue()).blocks).toEqual([])
    await devnet.close()
  })
})

describe('tries', () => {
  /** A proof with so many bytes that cannot be in a datum, and parts that can. */
  function proofOf(bytes: number, ...parts: readonly number[]): ProvenFraud {
    const given = parts.map((length) => constr(0, new Uint8Array(length).fill(length)))
    const redeemer = encodePlutusData([0n, ...given, new Uint8Array(bytes)])
    return { policy: 'ledger', proof: { fraud: 'wrongChunk' }, redeemer } as unknown as ProvenFraud
  }

  describe('createTries', () => {
    it('allows so many proofs that are refused', () => {
      const tries = createTries(2, 16_384, true)
      for (const isWorth of [true, true, false]) {
        expect(tries.isWorth(proofOf(1))).toBe(isWorth)
        tries.refused(proofOf(1), undefined)
      }
    })

    it('allows any number that are smaller than what fits into no transaction', () => {
      const tries = createTries(1, 16_384, true)
      for (const bytes of [20_000, 15_000, 14_000]) {
        expect(tries.isWorth(proofOf(bytes))).toBe(true)
        tries.refused(proofOf(bytes), 'bytes')
        expect(tries.isWorth(proofOf(bytes))).toBe(false)
      }
      expect(tries.isWorth(proofOf(100, 15_000))).toBe(false)
      expect(tries.isWorth(proofOf(13_000, 12_000, 12_001))).toBe(true)
    })

    it('knows that nothing is as long as a transaction once a proof is too long', () => {
      const tries = createTries(1, 16_384, true)
      tries.refused(proofOf(20_000), 'bytes')
      expect(tries.isWorth(proofOf(16_384))).toBe(false)
      expect(tries.isWorth(proofOf(15_000))).toBe(true)
    })

    it('counts all parts where there are no datums', () => {
      const tries = createTries(1, 16_384, false)
      tries.refused(proofOf(20_000), 'bytes')
      expect(tries.isWorth(proofOf(100, 9000, 9001))).toBe(false)
    })

    it('counts proofs that cost too much and are no smaller than another', () => {
      const tries = createTries(1, 16_384, true)
      for (const bytes of [900, 800, 700]) {
        tries.refused(proofOf(bytes), 'units')
        expect(tries.isWorth(proofOf(2000))).toBe(true)
      }
      tries.refused(proofOf(750), 'units')
      expect(tries.isWorth(proofOf(100))).toBe(false)
    })
  })
})

/** A story, and what its blocks are judged by. */
interface OpenStory {
  readonly story: Story
  readonly rules: ProvableRules
  /** Of every block. */
  readonly interval: Pick<Header, 'startTime' | 'endTime'>
  /** The fraud of a block with the smallest proof; undefined if there is none. */
  find(block: Committed): Promise<ReturnType<typeof findFraud>>
}

async function openStory(): Promise<OpenStory> {
  const { devnet, layer1, slots } = await openScene()
  // The ledger version in which an input must not be read too.
  const parameters = { ...(await layer1.parameters()), ledgerVersion: { major: 10, minor: 0 } }
  const rules = { parameters, networkId: 0, slots }
  const endTime = slotToTime(slots, devnet.currentSlot())
  const interval = { startTime: endTime - 20_000n, endTime }
  await devnet.close()
  return {
    story: await tellStory(parameters, slots),
    rules,
    interval,
    async find(block) {
      const header = {
        ...block.roots,
        ...interval,
        prevHeaderHash: new Uint8Array(28),
        operatorVkey: new Uint8Array(28),
        blockVersion,
      }
      return findFraud(await accuse(accusation(block, header)), rules)
    },
  }
}
