import { compile, type PType, type Term } from '@harmoniclabs/plu-ts'
import { createRuleBook, type RuleBook } from './core/rules.js'
import { type Data, lambda } from './core/term.js'
import { proofCheck } from './mpf/check.js'
import { stateQueue } from './queue/state-queue.js'
import { operatorRegistry } from './registry/registry.js'

/** A validator as it goes into the blueprint, not yet applied to its parameters. */
export interface Compiled {
  /** Flat bytes of the program. */
  readonly program: Uint8Array
  /** The names of the rules that it enforces. */
  readonly rules: readonly string[]
}

const plutusV3 = [1, 1, 0] as const

/** @param without the name of a rule to leave out, for the check of the tests */
export function compileStateQueue(without?: string): Compiled {
  return compiled(without, (book) =>
    fiveParameters((rootName, administrator, maturityWindow, registryPolicy, turnLength) =>
      lambda((context: Data) =>
        stateQueue(book, { rootName, administrator, maturityWindow, registryPolicy, turnLength }, context),
      ),
    ),
  )
}

/** @param without the name of a rule to leave out, for the check of the tests */
export function compileOperatorRegistry(without?: string): Compiled {
  return compiled(without, (book) =>
    fiveParameters((tokenName, administrator, bond, releaseDelay, maxOperators) =>
      lambda((context: Data) =>
        operatorRegistry(book, { tokenName, administrator, bond, releaseDelay, maxOperators }, context),
      ),
    ),
  )
}

type Five = readonly [Data, Data, Data, Data, Data]

const fiveParameters = (body: (...parameters: Five) => Term<PType>): Term<PType> =>
  lambda((a: Data) =>
    lambda((b: Data) => lambda((c: Data) => lambda((d: Data) => lambda((e: Data) => body(a, b, c, d, e))))),
  )

function compiled(without: string | undefined, validator: (book: RuleBook) => Term<PType>): Compiled {
  const book = createRuleBook(without)
  const program = compile(validator(book), plutusV3)
  return { program, rules: [...book.names] }
}

/** The check of trie proofs by themselves; it has no parameters. */
export function compileProofCheck(): Compiled {
  return compiled(undefined, (book) => lambda((context: Data) => proofCheck(book, context)))
}
