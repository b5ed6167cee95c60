import { type Header, headerHash } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { constrOf, decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { PlutusScript } from '../../script/apply.js'
import type { Evaluate } from '../evaluate.js'
import { translate } from '../uplc/translate.js'
import {
  BytesData,
  ConstrData,
  type Data,
  dataOf,
  Failure,
  IntData,
  ListData,
  listOf,
  MapData,
  Pair,
  unit,
} from '../uplc/values.js'
import type { Draw } from './draw.js'
import { mintingOf } from './minting.js'
import { mutated } from './mutations.js'

/** The result of a script for a redeemer: `deep` if it exceeds the stack of JavaScript. */
export type Ruling = 'accepted' | 'refused' | 'deep'

/**
 * A minting policy as a function of JavaScript, without costs: whether it mints a token of this name.
 * `tokens` are names of its tokens that reference inputs hold.
 */
export type TranslatedPolicy = (
  redeemer: PlutusData,
  name: Uint8Array,
  tokens?: readonly Uint8Array[],
) => Ruling

export const translatePolicy = (script: PlutusScript): TranslatedPolicy => translatePolicies(script)([])

/** A policy that takes parameters, translated once: the policy for each list of parameters. */
export function translatePolicies(
  script: PlutusScript,
): (parameters: readonly PlutusData[]) => TranslatedPolicy {
  const unapplied = translate(script)
  const policy = new BytesData(script.hash)
  const nothing = new ListData(null)
  return (parameters) => {
    const run = parameters.reduce((applied, parameter) => applied(dataOf(parameter)) as Script, unapplied)
    const valueWith = (name: Uint8Array) =>
      new MapData(
        listOf([new Pair(policy, new MapData(listOf([new Pair(new BytesData(name), new IntData(1))])))]),
      )
    const holding = (name: Uint8Array) =>
      new ConstrData(0, listOf<Data>([nothing, new ConstrData(0, listOf<Data>([nothing, valueWith(name)]))]))
    return (redeemer, name, tokens = []) => {
      // The policies read of a transaction its reference inputs and its mint.
      const held = new ListData(listOf<Data>(tokens.map(holding)))
      const transaction = new ConstrData(
        0,
        listOf<Data>([nothing, held, nothing, new IntData(0), valueWith(name)]),
      )
      const purpose = new ConstrData(0, listOf<Data>([policy]))
      try {
        const value = run(new ConstrData(0, listOf<Data>([transaction, dataOf(redeemer), purpose])))
        return value === unit ? 'accepted' : 'refused'
      } catch (error) {
        if (error instanceof Failure) return 'refused'
        if (error instanceof RangeError && /call stack/.test(error.message)) return 'deep'
        throw error
      }
    }
  }
}

type Script = ReturnType<typeof translate>

/** How many redeemers were tried, and how many of them by the machine. */
interface Tally {
  tried: number
  byMachine: number
}

export interface TrialOptions {
  readonly script: PlutusScript
  readonly machine: Evaluate
  /** The machine tries the first redeemers of each kind, and after them one by so many. */
  readonly first: number
  readonly every: number
}

/** A redeemer, and the names of the policy's tokens that it may refer to. */
export type Stated = readonly [fraud: string, redeemer: Uint8Array, tokens?: readonly Uint8Array[]]

/** Tries redeemers of a policy against honest blocks. */
export interface Trial {
  /** Tries redeemers and changes of them. Rejects if the policy accepts one, or the engines disagree. */
  expectNoVerdict(header: Header, stated: readonly Stated[], mutations: number, draw: Draw): Promise<void>
  /** By fraud, and by fraud and kind of mutation. */
  readonly tallies: ReadonlyMap<string, Tally>
}

/** Of a block before, how many redeemers give parts to those of the next. */
const kept = 200

export function openTrial({ script, machine, first, every }: TrialOptions): Trial {
  const rule = translatePolicy(script)
  const tallies = new Map<string, Tally>()
  let earlier: PlutusData[] = []

  async function expectRefused(
    kind: string,
    name: Uint8Array,
    redeemer: PlutusData,
    tokens: readonly Uint8Array[] = [],
  ) {
    const tally = tallies.get(kind) ?? { tried: 0, byMachine: 0 }
    tallies.set(kind, tally)
    tally.tried++
    const ruling = rule(redeemer, name, tokens)
    let isAccepted = ruling === 'accepted'
    if (ruling === 'deep' || tally.tried <= first || tally.tried % every === 0) {
      tally.byMachine++
      const { ok } = machine(mintingOf({ script, redeemer: encodePlutusData(redeemer), name, tokens }))
      if (ruling !== 'deep' && ok !== isAccepted)
        throw new Error(`${kind}: the translated script and the machine disagree: ${hexOf(redeemer)}`)
      isAccepted = ok
    }
    if (isAccepted) throw new Error(`${kind} is accepted: ${hexOf(redeemer)}`)
  }

  return {
    async expectNoVerdict(header, stated, mutations, draw) {
      const name = headerHash(header)
      const own = withOneHeader(stated.map(([, redeemer]) => decodePlutusData(redeemer)))
      for (const [place, redeemer] of own.entries()) {
        const [fraud, , tokens] = stated[place]!
        await expectRefused(fraud, name, redeemer, tokens)
      }
      const pool = [...own, ...earlier]
      for (let i = 0; i < mutations && own.length > 0; i++) {
        const place = draw(own.length)
        const { redeemer, kind } = mutated(own[place]!, pool, draw)
        const [fraud, , tokens] = stated[place]!
        await expectRefused(`${fraud}, ${kind}`, name, redeemer, tokens)
      }
      earlier = own.slice(0, kept)
    },
    tallies,
  }
}

const hexOf = (redeemer: PlutusData): string => toHex(encodePlutusData(redeemer))

/** Lets redeemers share one header, the first field of each, which is then converted and serialised once. */
function withOneHeader(redeemers: readonly PlutusData[]): PlutusData[] {
  const [first] = redeemers.map(fieldsOfConstr)
  return redeemers.map((redeemer) => {
    const { index, fields } = constrOf(redeemer, 'a redeemer')
    return { index, fields: [first![0]!, ...fields.slice(1)] }
  })
}

const fieldsOfConstr = (data: PlutusData) => constrOf(data, 'a redeemer').fields
