import { languageParameters, ledgerFraudScript, witnessFraudScript } from '../../fraud/scripts.js'
import { applyParameters } from '../../script/apply.js'
import { parameters } from '../evaluate.js'
import { instrumentedBuild } from '../instrumented-build.js'
import { scriptOf } from './engines.js'
import { measureProof, type ProvenLie } from './measure-proof.js'

/** The parts that use the memory of a proof, in units of memory. */
export interface ProofParts {
  readonly what: string
  readonly memory: bigint
  /** Proofs that maps of the header have a key, or lack it. */
  readonly maps: bigint
  /** The condition that makes it a fraud, with what it reads of the transaction. */
  readonly condition: bigint
  /** Finding what the proof names in the transaction and in the redeemer, the header and hashes. */
  readonly rest: bigint
}

const rulesOfMaps = new Set([
  'transaction-is-in-block',
  'output-record-is-in-block',
  'unspent-output-is-proven',
])

/** The rules that are the fraud itself. */
const conditions = new Set([
  'recorded-hash-is-wrong',
  'native-script-fails',
  'script-is-not-referenced',
  'script-is-not-witnessed',
  'redeemer-is-missing',
  'input-has-redeemer',
  'datum-is-missing',
  'script-data-hash-is-wrong',
])

const policies = [
  { title: 'ledger_fraud', script: ledgerFraudScript(), of: [] },
  { title: 'witness_fraud', script: witnessFraudScript(parameters), of: languageParameters(parameters) },
] as const

/** Measures parts of proofs: a part is what a proof costs less if the script skips its rules. */
export function partsOf(proofs: readonly ProvenLie[]): ProofParts[] {
  return policies.flatMap(({ title, script, of }) => {
    const { program, rules } = instrumentedBuild(title)
    const skipping = (place: number) => applyParameters(scriptOf(program).bytes, [BigInt(place), ...of])
    return proofs
      .filter((proof) => Buffer.from(proof.script.hash).equals(script.hash))
      .map((proof) => {
        const { what, memory } = measureProof(proof)
        const whole = measureProof({ ...proof, script: skipping(-1) }).memory
        const costOf = (names: ReadonlySet<string>) =>
          rules
            .flatMap((rule, place) => (names.has(rule) ? [place] : []))
            .reduce(
              (sum, place) => sum + whole - measureProof({ ...proof, script: skipping(place) }).memory,
              0n,
            )
        const [maps, condition] = [costOf(rulesOfMaps), costOf(conditions)]
        return { what, memory, maps, condition, rest: memory - maps - condition }
      })
  })
}
