import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { blake2b256, scriptHash } from '@ratatosk/ledger'
import { decodePlutusData } from '@ratatosk/ledger/plutus-data'
import { type Proof, proofToCbor } from '@ratatosk/trie'
import { compileProofCheck } from '../../validators/blueprint.js'
import { Claim } from '../../validators/mpf/proof.js'
import type { Evaluate, ScriptRun } from '../evaluate.js'
import { type Ruling, translatePolicy } from '../fraud/trial.js'
import { ada, wallet } from '../world.js'

/*
 * Hashes of the Merkle Patricia Forestry, written straight from its description, to forge proofs with.
 */

export const nibbleOf = (path: Uint8Array, index: number): number =>
  index % 2 === 0 ? path[index >> 1]! >> 4 : path[index >> 1]! & 15

export const nibblesOf = (path: Uint8Array, from: number, to: number): Uint8Array =>
  Uint8Array.from({ length: to - from }, (_, i) => nibbleOf(path, from + i))

export function leafHash(path: Uint8Array, from: number, valueHash: Uint8Array): Uint8Array {
  const rest = path.subarray((from + 1) >> 1)
  const head = from % 2 === 0 ? Uint8Array.of(0xff) : Uint8Array.of(0, nibbleOf(path, from))
  return blake2b256(concatBytes(head, rest, valueHash))
}

/** The Merkle root over a branch's children, by their nibbles. */
export function childrenRoot(children: ReadonlyMap<number, Uint8Array>): Uint8Array {
  let level = Array.from({ length: 16 }, (_, nibble) => children.get(nibble) ?? new Uint8Array(32))
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) =>
      blake2b256(concatBytes(level[2 * i]!, level[2 * i + 1]!)),
    )
  }
  return level[0]!
}

export const branchHash = (prefix: Uint8Array, childrenRoot: Uint8Array): Uint8Array =>
  blake2b256(concatBytes(prefix, childrenRoot))

export interface ClaimOfProof {
  readonly kind: keyof typeof Claim
  readonly root: Uint8Array
  readonly key: Uint8Array
  readonly value?: Uint8Array
  readonly proof: Proof | Uint8Array
  readonly next?: Uint8Array
}

const { program } = compileProofCheck()
const bytes = new CborWriter(program.length + 5).bytes(program).toBytes()
const script = { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) } as const

const noName = new Uint8Array()

function redeemerOf(claim: ClaimOfProof): Uint8Array {
  const { kind, root, key, value = new Uint8Array(), proof, next = new Uint8Array() } = claim
  const redeemer = new CborWriter(2048).tag(121 + Claim[kind]).indefiniteArray()
  redeemer.boundedBytes(root).boundedBytes(key).boundedBytes(value)
  redeemer
    .raw(proof instanceof Uint8Array ? proof : proofToCbor(proof))
    .boundedBytes(next)
    .break()
  return redeemer.toBytes()
}

const rule = translatePolicy(script)

/** The result of the checker, translated to JavaScript. Throws PlutusDataError if the proof is not data. */
export const checkTranslated = (claim: ClaimOfProof): Ruling =>
  rule(decodePlutusData(redeemerOf(claim)), noName)

/** Mints a token under the policy that checks the claim. */
export function checkOnChain(claim: ClaimOfProof, evaluate: Evaluate): ScriptRun {
  return evaluate({
    inputs: [{ id: 1, output: wallet(ada(100)) }],
    referenceInputs: [{ id: 250, output: { ...wallet(ada(20)), script } }],
    outputs: [wallet(ada(99), [{ policy: script.hash, name: noName, quantity: 1n }])],
    mint: [{ policy: script.hash, name: noName, quantity: 1n }],
    mintRedeemers: [{ policy: script.hash, redeemer: redeemerOf(claim) }],
    signatories: [],
  })
}
