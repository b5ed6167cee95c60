import { type Header, headerHash } from '@ratatosk/block'
import { CborWriter } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { type ProofPart, type ProvenFraud, proofParts } from '@ratatosk/protocol/fraud'
import type { PlutusScript } from '../../scripts.js'
import { engines } from '../evaluate.js'
import type { TestTransaction } from '../transaction.js'
import { ada, wallet } from '../world.js'

export function scriptOf(program: Uint8Array): PlutusScript {
  const bytes = new CborWriter(program.length + 5).bytes(program).toBytes()
  return { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) }
}

export interface Minting {
  readonly script: PlutusScript
  /** Plutus data CBOR. */
  readonly redeemer: Uint8Array
  readonly name?: Uint8Array
  readonly quantity?: bigint
  /** Plutus data CBOR of the inline datums of the first reference inputs. */
  readonly datums?: readonly Uint8Array[]
  /** Names of tokens of the policy that the next reference inputs hold; that of the script is the last. */
  readonly tokens?: readonly Uint8Array[]
}

/** A transaction that mints one token under a policy. */
export function mintingOf(minting: Minting): TestTransaction {
  const { script, redeemer, name = new Uint8Array(), quantity = 1n, datums = [], tokens = [] } = minting
  const token = { policy: script.hash, name, quantity }
  const [spent, paid] = quantity < 0n ? [[{ ...token, quantity: -quantity }], []] : [[], [token]]
  return {
    inputs: [{ id: 1, output: wallet(ada(100), spent) }],
    referenceInputs: [
      ...datums.map((datum, index) => ({ id: 100 + index, output: { ...wallet(ada(90)), datum } })),
      ...tokens.map((held, index) => ({
        id: 150 + index,
        output: wallet(ada(2), [{ policy: script.hash, name: held, quantity: 1n }]),
      })),
      { id: 250, output: { ...wallet(ada(20)), script } },
    ],
    outputs: [wallet(ada(99), paid)],
    mint: [token],
    mintRedeemers: [{ policy: script.hash, redeemer }],
    signatories: [],
  }
}

/** The names of the tokens that a proof refers to. */
export const tokensOf = (header: Header, proof: ProvenFraud['proof']): Uint8Array[] =>
  proofParts(header, proof).map(({ name }) => name)

/** A transaction that mints the verdict by a proof, with the tokens that it refers to. */
export const convictingBy = (
  script: PlutusScript,
  header: Header,
  { proof, redeemer }: Pick<ProvenFraud, 'proof' | 'redeemer'>,
): TestTransaction =>
  mintingOf({ script, redeemer, name: headerHash(header), tokens: tokensOf(header, proof) })

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
