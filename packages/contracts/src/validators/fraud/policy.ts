import type { PBool, PData, PList, PPair } from '@harmoniclabs/plu-ts'
import { headerFieldIndex } from '@ratatosk/block'
import { provableVersion } from '../../fraud/layout.js'
import {
  bData,
  boolean,
  equalsData,
  equalsInteger,
  headList,
  iData,
  integer,
  lessThanInteger,
  mapOf,
  nullList,
  sndPair,
  tailList,
  unIData,
  unitValue,
  unMapData,
} from '../core/builtins.js'
import {
  lookUp,
  mintOf,
  redeemerOf,
  referenceInputsOf,
  scriptInfoOf,
  transactionOf,
} from '../core/context.js'
import { at, both, branch, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  choose,
  type Data,
  type Entries,
  type List,
  recursive,
  scope,
  type Unit,
} from '../core/term.js'
import { type Evidence, headerHashOf, type Opening } from './openings.js'

/** Checks a fraud proof, whose fields are those of the redeemer behind the header. */
export type FraudCheck<Block> = (book: RuleBook, block: Block, fields: List) => Unit

export interface Frauds<Block> {
  /** Opens what they read of a header. */
  readonly open: (book: RuleBook, evidence: Evidence) => Opening<Block>
  readonly checks: readonly (readonly [index: number, check: FraudCheck<Block>])[]
  /**
   * A part that is shown for proofs that have no room for it: its constructor, and the name of the token that
   * shows it, which is no header's hash.
   */
  readonly shows?: { readonly index: number; readonly nameOf: (block: Block, fields: List) => Bytes }
}

/**
 * A policy of fraud proofs. Its redeemer names a fraud by its constructor; the first field is the header of a
 * block. If the rest proves the fraud, one token is minted, the verdict, whose name is the header's hash; or
 * the token of what is shown for a proof. Tokens may be burned without a proof.
 *
 * A token speaks of the header's bytes only. It does not depend on the transaction that mints it, or on the
 * state queue.
 */
export const fraudPolicy = <Block>(
  book: RuleBook,
  { open, checks, shows }: Frauds<Block>,
  context: Data,
): Unit =>
  scope(function* () {
    const transaction = yield* bind(transactionOf(context))
    // Every other purpose than minting fails here: none has a policy as its first field.
    const policy = yield* bind(at(fieldsOf(scriptInfoOf(context)), 0))
    const minted = yield* bind(lookUp(mintOf(transaction), policy))
    return choose(
      onlyBurns(unMapData(minted)),
      unitValue(),
      scope(function* () {
        const redeemer = yield* bind(redeemerOf(context))
        const fields = yield* bind(fieldsOf(redeemer))
        const header = yield* bind(headList(fields))
        const headerHash = yield* bind(headerHashOf(header))
        const referenceInputs = referenceInputsOf(transaction)
        const block = yield* open(book, { header, headerHash, referenceInputs, policy })
        const rest = yield* bind(tailList(fields))
        const kind = yield* bind(constructorOf(redeemer))
        const isShown = shows && (yield* bind(equalsInteger(kind, integer(shows.index))))
        const name = isShown
          ? yield* bind(choose(isShown, shows.nameOf(block, rest), headerHash))
          : headerHash
        yield* bind(
          book.enforce({
            'token-names-what-is-proven': equalsData(minted, mapOf(bData(name), iData(integer(1)))),
            'header-is-provable': equalsInteger(
              unIData(at(fieldsOf(header), headerFieldIndex.blockVersion)),
              integer(provableVersion),
            ),
          }),
        )
        const proven = branch(
          kind,
          ...checks.map(([index, check]) => [index, check(book, block, rest)] as const),
        )
        return isShown ? choose(isShown, unitValue(), proven) : proven
      }),
    )
  })

export const onlyBurns = (quantities: Entries): Bool =>
  recursive<PList<PPair<PData, PData>>, PBool>((self, rest) =>
    choose(
      nullList(rest),
      boolean(true),
      both(lessThanInteger(unIData(sndPair(headList(rest))), integer(0)), self(tailList(rest))),
    ),
  )(quantities)
