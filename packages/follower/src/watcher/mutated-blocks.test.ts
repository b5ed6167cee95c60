import {
  type ArchivedBlock,
  blockVersion,
  genesisHeaderHash,
  type Header,
  headerHash,
  type NewArchivedBlock,
  partsOf,
  type ReadBody,
  type WritableArchive,
} from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { encodeOutputReference, scriptHash } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { accuse, movedParts } from '@ratatosk/protocol/fraud'
import { emptyRoot } from '@ratatosk/trie'
import { afterAll, describe, expect, it } from 'vitest'
import { type Draw, drawing, mutatedBytes } from '../../../contracts/dist/test/fraud/draw.js'
import { rules } from '../../../contracts/dist/test/fraud/transaction/transactions.js'
import { translatePolicy } from '../../../contracts/dist/test/fraud/trial.js'
import { fraudsIn } from '../../../protocol/dist/fraud/find-fraud.js'
import { blockOf, type Committed, outputsBefore } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { type RichPart, richTransaction } from '../../../protocol/dist/fraud/test/rich.js'
import {
  coin,
  holding,
  signedTheft,
  type Theft,
  theft,
  undecodedOf,
} from '../../../protocol/dist/fraud/test/theft.js'
import { createFollower, type InvalidBlock } from '../index.js'
import { genesisOf, served, silent } from './test/real-follower.js'

/*
 * A block has a randomly changed transaction, and a theft beside or behind it. Although the ledger does not
 * decode the change, a follower finds a fraud whose proof the scripts accept.
 */

/** `RATATOSK_MUTATED_BLOCKS=10000` changes so many blocks, from the seed `RATATOSK_MUTATED_FROM`. */
const count = Number(process.env.RATATOSK_MUTATED_BLOCKS ?? 15)
const from = Number(process.env.RATATOSK_MUTATED_FROM ?? 1)

const parts: readonly RichPart[] = [
  'body',
  'witness set',
  'auxiliary data',
  'datum',
  'script',
  'pointer',
  'rest',
]
const evaluator = createEvaluator({ threads: 1 })
afterAll(() => evaluator.close())

const judges = new Map(
  Object.entries(verdictPolicies).map(([name, { script }]) => [name, translatePolicy(script(rules))]),
)

/** The fraud whose proof the scripts accept; undefined if there is none. */
async function provenIn(block: InvalidBlock): Promise<string | undefined> {
  const accused = await accuse(block)
  for (const frauds of fraudsIn(accused, rules))
    for (const { policy, proof, redeemer } of frauds ?? []) {
      const ruling = judges.get(policy)?.(decodePlutusData(redeemer), headerHash(block.header))
      if (ruling === 'accepted') return proof.fraud
    }
  return undefined
}

const headersOf = (blocks: readonly Committed[]): readonly Header[] => {
  const headers: Header[] = []
  for (const { roots } of blocks) {
    const last = headers.at(-1)
    const startTime = last?.endTime ?? 1_700_000_000_000n
    headers.push({
      ...roots,
      depositsRoot: emptyRoot(),
      withdrawalsRoot: emptyRoot(),
      startTime,
      endTime: startTime + 30_000n,
      prevHeaderHash: last ? headerHash(last) : genesisHeaderHash(),
      operatorVkey: new Uint8Array(28).fill(1),
      blockVersion,
    })
  }
  return headers
}

/** A follower's results for a chain: the proven fraud, or `unprovable`. Ends with the first fraud. */
async function followed(blocks: readonly Committed[], outputs = outputsBefore()): Promise<readonly string[]> {
  const headers = headersOf(blocks)
  const found: string[] = []
  let end: (error?: unknown) => void = () => undefined
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error))
  })
  const follower = await createFollower({
    chain: { read: async () => ({ confirmed: { headerHash: genesisHeaderHash() }, blocks: headers }) },
    peers: [],
    own: served(headers.map((header, at) => ({ header, transactions: blocks[at]!.transactions }))),
    archive: createMemoryArchive(),
    genesis: genesisOf(outputs),
    rules: { ...rules, evaluator },
    log: silent,
    pollMs: 5,
    backoffMs: 5,
    async watch(block) {
      const fraud = await provenIn(block).catch((error: unknown) => {
        end(error)
        return undefined
      })
      found.push(fraud ?? 'unprovable')
      if (fraud === undefined) return 'unprovable'
      end()
      return undefined
    },
  })
  const timer = setTimeout(() => end(new Error(`It stops: ${follower.status().trouble}`)), 10_000)
  follower.synced().then(() => end(), end)
  await ended.finally(() => {
    clearTimeout(timer)
    return follower.close()
  })
  return found
}

/** The field of a body that reads the first output of a transaction, which may not decode. */
const readingOf = (transaction: Uint8Array): Uint8Array =>
  concatBytes(fromHex('1281'), encodeOutputReference({ transactionId: partsOf(transaction).id, index: 0 }))

it('no change of a transaction hides a theft', { timeout: 48 * 3_600_000 }, async () => {
  const seedsOf = new Map<string, number[]>()
  const gotAway: string[] = []
  for (let seed = from; seed < from + count; seed++) {
    const draw: Draw = drawing(seed)
    const changed = draw(8) === 0 ? undefined : parts[draw(parts.length)]
    const mutations = 1 + draw(3)
    const bytes = richTransaction(draw, 2 * draw(5), (part, own) => {
      let mutant = own
      for (let i = 0; part === changed && i < mutations && mutant.length > 0; i++)
        mutant = mutatedBytes(mutant, draw)
      return mutant
    })
    const read: ReadBody = draw(4) === 0 ? () => undefined : movedParts
    const stolen = theft({ inputs: [30] })
    const what = `seed ${seed}, ${changed ?? 'nothing'} changed: ${toHex(bytes)}`
    try {
      const alone = blockOf([bytes], { read })
      const beside = await followed([blockOf([bytes, stolen], { read })])
      const next = draw(2) === 0 ? stolen : theft({ inputs: [30], behind: [readingOf(bytes)] })
      const behind = await followed([alone, blockOf([next], { outputs: alone.outputs.after })])
      if (changed === undefined) expect(behind).toEqual(['missingSignature'])
      if (beside.at(-1) === 'unprovable' || behind.at(-1) === 'unprovable' || behind.length === 0)
        gotAway.push(`${what}: ${beside} and ${behind}`)
      const result = behind.length > 1 ? 'unprovable' : behind[0]
      const tally = `${changed ?? 'nothing'}: ${result}`
      const seeds = seedsOf.get(tally) ?? []
      seedsOf.set(tally, seeds)
      seeds.push(seed)
    } catch (error) {
      gotAway.push(`${what}: ${error}`)
    }
  }
  const tallies = [...seedsOf].sort().map(([tally, seeds]) => {
    const which = tally.endsWith(': unprovable') ? `, of the seeds ${seeds.join(' ')}` : ''
    return `  ${tally} ${seeds.length}${which}\n`
  })
  process.stdout.write(`mutated blocks:\n${tallies.join('')}`)
  expect(gotAway).toEqual([])
})

describe.each(Object.keys(undecodedOf(0n)))('%s that does not decode', (what) => {
  const plutus = fromHex('450101002499')
  const script = scriptHash('PlutusV3', plutus.subarray(1))
  const locked = concatBytes(fromHex('a200581d70'), script, fromHex('011a004c4b40'))
  const outputs = outputsBefore()
  for (const index of [50, 51]) outputs.set(toHex(coin(index)), locked)
  outputs.set(toHex(coin(52)), holding(concatBytes(fromHex('8203'), plutus)))
  const harmless = undecodedOf(9_500_000n)[what] as Theft

  it.each([
    ['a witness', { witnesses: concatBytes(fromHex('a10781'), plutus) }],
    ['an output', { behind: [concatBytes(fromHex('1281'), coin(52)), ...(harmless.behind ?? [])] }],
  ])('hides not that no redeemer is there for the script of %s', async (_what, own) => {
    const bytes = theft({ ...harmless, inputs: [50, 51], ...own })
    const block = blockOf([bytes], { outputs, read: movedParts })
    expect(await followed([block], outputs)).toEqual(['redeemerMissing'])
  })

  it('hides no low fee', async () => {
    const cheap = { ...undecodedOf(9_999_900n)[what], inputs: [20, 21], fee: 100n }
    const block = blockOf([signedTheft(cheap)], { read: movedParts })
    expect(await followed([block])).toEqual(['feeTooSmall'])
  })
})

describe('outputs that are shorter than any', () => {
  const to = (header: string) => concatBytes(fromHex(`8254${header}`), new Uint8Array(20))
  const short = {
    'a number': Uint8Array.of(0),
    'without an address': fromHex('824000'),
    'to half a key': to('60'),
    'to half a pointer': to('40'),
    'to half an address of the Byron era': to('82'),
    'in a map': fromHex('a20041600100'),
  }

  it.each(Object.entries(short))(
    'are read as far as they fit, and are a fraud: %s',
    async (_what, output) => {
      const [few, many] = [1, 45].map((outputs) => theft({ inputs: [20, 21], output, outputs }))
      expect(movedParts(partsOf(few!).body)?.outputs).toEqual([output])
      expect(movedParts(partsOf(many!).body)).toBeUndefined()
      const block = blockOf([many!], { read: movedParts })
      expect(await followed([block])).toEqual([expect.not.stringContaining('unprovable')])
    },
  )
})

function createMemoryArchive(): WritableArchive {
  let blocks: readonly NewArchivedBlock[] = []
  const byHash = async (hash: Uint8Array) => blocks.find(({ headerHash }) => equalBytes(headerHash, hash))
  return {
    byHash,
    byHeight: async (height) => blocks.find((block) => block.height === height),
    range: async (from, to) => blocks.filter(({ height }) => height >= from && height <= to),
    async *body(hash) {
      const found = await byHash(hash)
      if (found === undefined) throw new Error('The archive lacks the block')
      yield found.body
    },
    tip: async (): Promise<ArchivedBlock | undefined> => blocks.at(-1),
    async put(more) {
      blocks = [...blocks, ...more]
    },
    async markMerged(height) {
      blocks = blocks.map((block) => ({ ...block, merged: block.height <= height }))
    },
    async removeFrom(height) {
      blocks = blocks.filter((block) => block.height < height)
    },
  }
}
