import { type Header, headerHash } from '@ratatosk/block'
import type { ProofPart } from '@ratatosk/fraud'
import type { PlutusScript } from '../../script/apply.js'
import { engines } from '../evaluate.js'
import { mintingOf } from './minting.js'

export interface ProvenLie {
  /** In Markdown. */
  readonly what: string
  readonly header: Header
  readonly script: PlutusScript
  readonly redeemer: Uint8Array
  /** The parts whose tokens it refers to. */
  readonly parts?: readonly ProofPart[]
  /** The name of the token of a part of a proof, which is no verdict. */
  readonly part?: Uint8Array
}

/** The cost of a proof besides the transaction that it is in. */
export function measureProof({ what, header, script, redeemer, parts = [] }: ProvenLie) {
  const tokens = parts.map(({ name }) => name)
  const evaluated = engines.cek(mintingOf({ script, redeemer, name: headerHash(header), tokens }))
  if (!evaluated.ok) throw new Error(`${what}: ${evaluated.message}`)
  return { what, size: redeemer.length, ...evaluated.units[0]! }
}
