import { equalBytes, fromHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  constr,
  decodeAnyData,
  decodePlutusData,
  encodePlutusData,
  type PlutusConstr,
  type PlutusData,
} from '@ratatosk/ledger/plutus-data'
import type { Trie } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import { encodedAnyhow } from '../../../contracts/dist/test/any-encoding.js'
import { drawing } from '../../../contracts/dist/test/fraud/draw.js'
import { freeMap, leafAt, leavesOf, nodeOf } from '../../../fraud/dist/test/free-map.js'
import { blockOf } from '../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import { honest } from './test/lies.js'
import { openOperator } from './test/operator.js'
import { openWatched, openWatcher, until, type Watched } from './test/scene.js'

/* Answers in forms that the summons takes and that no honest operator sends hide no lie. */

const timeout = 120_000
const draw = drawing(48)
const constrIn = (data: PlutusData | undefined) => data as PlutusConstr

/** The redeemer with another answer in the place of its second field. */
function changed(redeemer: Uint8Array, change: (answer: PlutusConstr) => PlutusData): Uint8Array {
  const { index, fields } = constrIn(decodePlutusData(redeemer))
  return encodePlutusData(constr(index, fields[0]!, change(constrIn(fields[1]))))
}

/** The redeemer with other openings of a branch's children, if it answers with a branch. */
const withOpenings = (redeemer: Uint8Array, change: (opening: PlutusConstr) => PlutusData): Uint8Array =>
  changed(redeemer, ({ index, fields }) => {
    if (index !== 0) return constr(index, ...fields)
    const [prefix, children, openings] = fields as [Uint8Array, Uint8Array, readonly PlutusConstr[]]
    return constr(0, prefix, children, openings.map(change))
  })

const forms: { readonly [what: string]: (redeemer: Uint8Array) => Uint8Array } = {
  'a number where a branch has no child': (redeemer) =>
    withOpenings(redeemer, (opening) => (opening.index === 2 ? 0n : opening)),
  'leaves of another constructor': (redeemer) =>
    withOpenings(redeemer, (opening) => (opening.index === 1 ? constr(9, ...opening.fields) : opening)),
  'a map behind the fields': (redeemer) => Uint8Array.from([...redeemer.subarray(0, -1), 0xa0, 0xff]),
  'lists in lists behind the fields': (redeemer) =>
    Uint8Array.from([...redeemer.subarray(0, -1), ...new Array<number>(900).fill(0x81), 0x00, 0xff]),
  'another encoding': (redeemer) => encodedAnyhow(decodeAnyData(redeemer), draw),
}

async function isRemoved({ store }: Watched): Promise<boolean> {
  const [verdict] = (await store.verdicts.list({ limit: 1 })).verdicts
  expect(verdict?.state).not.toBe('unprovable')
  return verdict?.state === 'removed'
}

test.each(Object.entries(forms))('a false root, answered with %s', { timeout }, async (_what, form) => {
  const watched = await openWatched({ contracts })
  const { outputs, ...committed } = honest(watched.story)
  const made = [...outputs.after].find(([key]) => !outputs.before.has(key))!
  const path = blake2b256(fromHex(made[0]))
  const others = Array.from({ length: 3 }, (_, i) => leafAt(blake2b256(Uint8Array.of(i))))
  const ground = [...leavesOf(outputs.after), ...others]
  const truth = freeMap(nodeOf(ground))
  const posted = freeMap(nodeOf(ground.map((leaf) => (equalBytes(leaf.path, path) ? leafAt(path, 9) : leaf))))
  const roots = { ...committed.roots, utxosRoot: posted.root }
  const lie = { ...committed, outputs, after: posted as Trie, roots }
  const block = { ...(await watched.commit(lie)), afterTransactions: truth }
  const { answered } = await openOperator(watched, lie, { form })
  const { errors } = openWatcher(watched, [block])
  await until('it is removed', () => isRemoved(watched))
  expect(answered.length).toBeGreaterThan(0)
  expect(errors).toEqual([])
})

/** The parts of a shown chunk. */
const partsForms: { readonly [what: string]: Partial<Parameters<typeof openOperator>[2]> } = {
  'by datums of a constructor that no one writes': {
    form: (redeemer) =>
      changed(redeemer, ({ index, fields }) => {
        const [entry, proof, parts] = fields as [Uint8Array, PlutusData, readonly PlutusConstr[]]
        if (index !== 0) return constr(index, ...fields)
        return constr(
          0,
          entry,
          proof,
          parts.map((part) => (part.index === 1 ? constr(5, ...part.fields) : part)),
        )
      }),
  },
  'by the hash of a datum that no one knows': { hidesInHashes: true },
  'with a map behind them': { form: forms['a map behind the fields']! },
}

test.each(Object.entries(partsForms))('a withheld body, shown %s', { timeout }, async (_what, options) => {
  const watched = await openWatched({ contracts })
  const { transactions, large, conjured } = watched.story
  const committed = blockOf([...transactions, large, conjured])
  const block = await watched.commit(committed)
  const { answered } = await openOperator(watched, committed, options)
  const { errors } = openWatcher(watched, [block], {
    withheld: { judge: async () => false },
    patienceMs: 20_000,
  })
  await until('it is removed', () => isRemoved(watched))
  expect(answered.length).toBeGreaterThan(0)
  expect(errors).toEqual([])
})
